import type { DateFormat } from '../dataset/cell.ts'
import type { Flag } from './flag.ts'

const dateFormats = [
  'DD.MM.YYYY',
  'DD/MM/YYYY',
  'DD-MM-YYYY',
  'MM/DD/YYYY',
  'YYYY-MM-DD',
  'excel',
] as const satisfies readonly DateFormat[]

export const mappingFlags = [
  {
    name: 'map',
    kind: 'texts',
    placeholder: 'column=field',
    summary:
      'Column of the file that holds a field, such as "Given name=firstName"; nothing after = ignores the column',
  },
  {
    name: 'map-value',
    kind: 'texts',
    placeholder: 'field:value=meaning',
    summary: 'Value of the file and what to read for it, such as role:Lehrer=instructor',
  },
  {
    name: 'mapping',
    kind: 'text',
    placeholder: 'file',
    file: 'read',
    summary: 'Read columns, values, date format, delimiter and encoding from this YAML or JSON file',
  },
  {
    name: 'save-mapping',
    kind: 'text',
    placeholder: 'file',
    file: 'write',
    summary: 'Write the mapping to a new file, for --mapping; adds to the file that --mapping names',
  },
] as const satisfies readonly Flag[]

export const fileFormFlags = [
  {
    name: 'delimiter',
    kind: 'text',
    placeholder: 'character',
    summary: 'Character between cells (default detected)',
  },
  {
    name: 'encoding',
    kind: 'text',
    placeholder: 'name',
    summary: 'Encoding of the file, such as shift_jis or macintosh (default detected)',
  },
  {
    name: 'date-format',
    kind: 'text',
    summary:
      'Format of dates in the file, besides ISO 8601; YYYY-MM-DD for times without a zone, excel for serial numbers such as 45900',
    choices: dateFormats,
  },
] as const satisfies readonly Flag[]
