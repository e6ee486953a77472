-- is_blank: returns whether the text of a card is empty or only white space. The characters are those of content_trim()
-- in the C code.
CREATE OR REPLACE FUNCTION cardbox.is_blank(content json) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(cardbox.card_text(content), '') ~
           '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$'
$$;
