-- Numbers of tokens that models' APIs have reported with answers. A row is the sum of one day, in UTC, and one model in a
-- session or a task. Only the transaction that has locked the row of the session or task changes its sums. The id '' has
-- the sums of deleted sessions. Sums stop at 2^53, the largest integer that JSON numbers of all programs hold.
--
-- needs: protect
CREATE TABLE cardbox.usage (
    tenant_id           text COLLATE "C" NOT NULL CHECK (octet_length(tenant_id) BETWEEN 1 AND 255),
    source              text COLLATE "C" NOT NULL CHECK (source IN ('session', 'task')),
    source_id           text COLLATE "C" NOT NULL CHECK (octet_length(source_id) <= 512),
    on_day              date NOT NULL CHECK (on_day BETWEEN '0001-01-01' AND '9999-12-31'),
    model               text COLLATE "C" NOT NULL CHECK (octet_length(model) <= 255), -- '': unknown
    input_tokens        bigint NOT NULL CHECK (input_tokens BETWEEN 0 AND 9007199254740992), -- with cached ones
    cached_input_tokens bigint NOT NULL CHECK (cached_input_tokens BETWEEN 0 AND 9007199254740992),
    output_tokens       bigint NOT NULL CHECK (output_tokens BETWEEN 0 AND 9007199254740992), -- with reasoning
    cost                numeric CHECK (cost BETWEEN 0 AND 9007199254740992), -- NULL: no answer had a cost
    PRIMARY KEY (tenant_id, source, source_id, on_day, model)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX usage_by_day ON cardbox.usage (tenant_id, on_day);

SELECT cardbox.protect('cardbox.usage', service => 'SELECT, INSERT, UPDATE, DELETE', worker => 'SELECT',
                       writer => 'SELECT, INSERT, UPDATE');
