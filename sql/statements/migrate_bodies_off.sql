-- Functions name each other and tables in any order: their bodies are not looked up before all are there.
SET LOCAL check_function_bodies = off
