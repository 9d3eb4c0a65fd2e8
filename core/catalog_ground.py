"""Codes that any command may give: JSON and TOML, files and paths, and the program itself."""

from __future__ import annotations

from .catalog_entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="json.invalid",
        meaning="A text is not JSON, or its bytes are not UTF-8.",
        establishes="The bytes as read cannot be taken as a document; line and column name the first fault.",
        does_not_establish="Whether the rest of the text is sound, or who damaged it.",
        next_step="Look at the named line and column. Save without a byte-order mark, comments, NaN or"
        " commas before a closing bracket.",
    ),
    Entry(
        code="json.repeated_key",
        meaning="An object names the same key twice.",
        establishes="Two readers could take different values from this document, so none is taken.",
        does_not_establish="Which of the values was meant.",
        next_step="Remove one of the two members at the named path.",
    ),
    Entry(
        code="json.too_deep",
        meaning="A value is nested deeper than this program reads or prints.",
        establishes="The document exceeds the stated depth.",
        does_not_establish="That the document is malformed otherwise.",
        next_step="Flatten the document; no format of this project needs such depth.",
    ),
    Entry(
        code="json.too_large",
        meaning="A text is longer than this program reads in one piece.",
        establishes="The document exceeds the stated size.",
        does_not_establish="Anything about its content; it was not parsed.",
        next_step="Check that the right file was named; split the document if it was.",
    ),
    Entry(
        code="json.unsupported_value",
        meaning="A Python value has no JSON form: another type, a key that is no string, or a cycle.",
        establishes="Nothing was hashed or written for this value.",
        does_not_establish="That a value which does have a JSON form is what was meant.",
        next_step="Hand over dict, list, str, int, float, bool or None, with str keys.",
    ),
    Entry(
        code="toml.invalid",
        meaning="A text is not TOML, is too long or too deep, or holds a value that JSON cannot express.",
        establishes="The bytes as read cannot be taken as a document.",
        does_not_establish="Whether the rest of the text is sound.",
        next_step="Correct the named line, or write the document as JSON.",
    ),
    Entry(
        code="file.missing",
        meaning="There is no file at the path.",
        establishes="At the moment of reading nothing was there, or a symbolic link led nowhere.",
        does_not_establish="That the file never existed.",
        next_step="Check the path and the working directory.",
    ),
    Entry(
        code="file.unreadable",
        meaning="The system refused to open or read a file.",
        establishes="The system's reason, which the message gives.",
        does_not_establish="Anything about the file's content.",
        next_step="Check permissions and the medium, then try again.",
    ),
    Entry(
        code="file.not_regular",
        meaning="The path names a directory, a FIFO, a device, a socket or a refused symbolic link.",
        establishes="Nothing was read from it; evidence is only read from regular files.",
        does_not_establish="What a reader of that path would have got.",
        next_step="Name a regular file; copy the data into one if it comes from a pipe.",
    ),
    Entry(
        code="file.too_large",
        meaning="A file is larger than this kind of file may be.",
        establishes="The stated limit was passed.",
        does_not_establish="Anything about its content.",
        next_step="Check that the right file was named.",
    ),
    Entry(
        code="file.write_failed",
        meaning="A file could not be written whole.",
        establishes="The earlier file of that name, if there was one, is still whole.",
        does_not_establish="That the disk holds nothing of the attempt; a temporary file may be left.",
        next_step="Free space or fix permissions as the message says, then run the command again.",
    ),
    Entry(
        code="path.invalid",
        meaning="A path in a document is not a plain relative path.",
        establishes="The path was not followed.",
        does_not_establish="What lies at the path.",
        next_step="Write it relative to its root, with slashes, without '..' and without a drive or"
        " leading slash.",
    ),
    Entry(
        code="path.outside_root",
        meaning="A path leads outside its root once symbolic links are followed.",
        establishes="Nothing outside the root was read.",
        does_not_establish="That the link was made with ill intent.",
        next_step="Move the file under the root, or replace the link by the file.",
    ),
    Entry(
        code="output.unwritable",
        meaning="stdout is closed or full, so the result could not be delivered.",
        establishes="What stdout received is incomplete and must not be used.",
        does_not_establish="That the command's own work failed; what it writes is written before it prints.",
        next_step="Give stdout a writable place. Before you repeat a command that writes, look whether its"
        " work is done: the message says so, and `capsule show` lists the entries. Repeating `capsule append`"
        " would record the same thing twice.",
    ),
    Entry(
        code="payload.unreadable",
        meaning="The payload given to `capsule append` could not be read as JSON.",
        establishes="The capsule was not touched.",
        does_not_establish="That the payload would be allowed once it parses.",
        next_step="Pass a JSON object, @FILE for a file that holds one, or - for stdin.",
    ),
    Entry(
        code="internal.error",
        meaning="The program met a situation that it has no code for. That is a fault in the program.",
        establishes="The command did not finish; its result must not be assumed.",
        does_not_establish="Anything about the evidence. Journals are append-only and files are replaced"
        " whole, so what was there before still verifies or not on its own terms.",
        next_step="Run the same command as `evals --debug ...` and report the traceback.",
    ),
)
