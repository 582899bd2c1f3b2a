"""Failures that a person or a model can act on. Anything else is a bug and travels as a plain exception.

`code` says what sort of failure it is, for programs. `said` names the sentence, so that a page can say it in the reader's language;
`step` names what to do about it. A sentence or a step that is new here needs words on the page (`web/src/i18n/said.ts`).
"""

# What to do about a file, said after why it cannot be read.
STEPS = {
    "picture": "upload the figures it shows as CSV or XLSX",
    "unpack": "unpack it and upload what is inside",
    "unpack_tables": "unpack it and upload the tables themselves",
    "export": "export its tables as CSV or XLSX and upload those",
    "export_parquet": "export its tables as CSV or Parquet and upload those",
    "export_newer": "export its tables as Parquet",
    "document": "save it as .docx to have its tables read, or put them into an XLSX or CSV file",
    "slides": "put its tables into an XLSX or CSV file, or save it as PDF to have its text read",
    "numbers": "in Numbers, choose File > Export To > Excel or CSV and upload that",
    "access": "in Access, export its tables to Excel or as text (External Data > Export) and upload those",
    "r_data": "in R, write the table with write.csv and upload that",
    "data": "upload the data as CSV or XLSX",
    "tables": "upload the tables themselves, as CSV or XLSX",
    "fewer_tables": "upload the tables you need, or put them into one workbook",
    "part": "upload a part of the rows or columns",
    "pack_again": "pack or download it again",
    "pack_plain": "pack it again as a plain zip, or upload the tables themselves",
    "write_again": "write it again, or save the table as Parquet or CSV",
    "save_again": "save, pack or download it again",
    "save_in_program": "save it again in the program it comes from, or export it as CSV",
    "save_in_word": "open it in Word and save it again as .docx, or put its tables into an XLSX file",
    "save_in_spreadsheet": "open it in a spreadsheet program and save it again",
    "save_as_xlsx": "save it as .xlsx",
    "save_in_excel": "open it in Excel and save it as .xlsx",
    "save_in_spss": "in SPSS, save it as CSV, Excel or Stata (.dta)",
    "own_format": "upload the file as its program saves it, or the table as CSV or XLSX",
    "json_lines": "use JSON lines",
    "password": "remove its password, or export its tables as CSV",
    "password_word": "remove the password in Word and upload it again",
    "password_excel": "remove the password in Excel and upload it again",
    "encoding": "choose another encoding, or none to have it detected",
    "data_sets": "write each data set to a file of its own, or to CSV",
}


class TableError(Exception):
    """The message never names a path outside the job's folder. `hint` is for a model alone; `step` is one of `STEPS`."""

    def __init__(self, code, message, hint=None, /, *, said=None, step=None, **values):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = STEPS[step] if step else hint
        self.said = said or code.lower()
        self.step = step
        self.values = values

    def sentence(self):
        """The reason as another sentence's value: words, and what to say them by."""
        return {"code": self.said, "text": self.message, "values": self.values}

    def as_dict(self):
        said = {"code": self.said, "step": self.step, "values": self.values}
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint, "said": said}}
