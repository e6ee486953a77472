-- Abilities of projects that a program outside CardBox implements. cardboxd and cardbox-worker send the input to `url`.
--
-- needs: protect
--
-- A worker's role reads the rows of its granted projects, with `url` and `headers`, because workers call the URLs
-- themselves. Only the service writes the table, through save_ability().
CREATE TABLE cardbox.abilities (
    tenant_id     text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    ability_id    text COLLATE "C" NOT NULL CHECK (octet_length(ability_id) BETWEEN 3 AND 60),
    description   text NOT NULL,
    input_schema  json NOT NULL,
    output_schema json NOT NULL,
    url           text NOT NULL CHECK (octet_length(url) BETWEEN 8 AND 2048),
    headers       json NOT NULL, -- an object: the name and the value of each header that is sent
    timeout_ms    integer NOT NULL CHECK (timeout_ms BETWEEN 1 AND 600000),
    unchecked     json NOT NULL, -- an array: keywords of the schemas that are not checked
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, ability_id),
    CHECK (octet_length(description) + octet_length(input_schema::text) + octet_length(output_schema::text)
           + octet_length(headers::text) <= 65536)
);
SELECT cardbox.protect('cardbox.abilities', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT');
