-- The functions that were applied, with their checksums.
SELECT f.name, f.checksum FROM cardbox.functions f
