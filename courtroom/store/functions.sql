-- SQLite's functions that the program uses, and PostgreSQL lacks. A damaged text gives NULL. What catches an error
-- can't be run by several workers at once.
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT strpos($1, $2)';
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT lower(coalesce($1, '''') COLLATE pg_catalog."default")';
CREATE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM body::json;
    RETURN body IS NOT NULL;
EXCEPTION WHEN invalid_text_representation THEN
    RETURN false;
END $$;
CREATE FUNCTION json_extract(body text, path text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    found json;
BEGIN
    found := body::json #> string_to_array(substr(path, 3), '.');
    RETURN CASE json_typeof(found)
        WHEN 'boolean' THEN CASE found #>> '{}' WHEN 'true' THEN '1' ELSE '0' END
        ELSE found #>> '{}'
    END;
EXCEPTION
    WHEN invalid_text_representation THEN RETURN NULL;
    WHEN untranslatable_character THEN RETURN json_extract(replace(body, '\u0000', ''), path);
END $$;
CREATE FUNCTION json_each(body text, path text) RETURNS TABLE (value text) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN QUERY SELECT json_array_elements_text(body::json #> string_to_array(substr(path, 3), '.'));
EXCEPTION WHEN untranslatable_character THEN
    RETURN QUERY
            SELECT json_array_elements_text(replace(body, '\u0000', '')::json #> string_to_array(substr(path, 3), '.'));
END $$;
