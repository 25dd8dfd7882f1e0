import { csvText } from '../../../codec/csv.ts'
import { UsageError } from '../../terminal/errors.ts'
import { type Io, note } from '../../terminal/io.ts'
import type { PackedFile } from './zip.ts'

interface Sheet {
  readonly name: string
  readonly part: string
  readonly isHidden: boolean
}

/**
 * Reads one sheet of an XLSX workbook (ECMA-376) as CSV, with the row of each line: the sheet with this name or number, else the first that is not
 * hidden. Throws a UsageError if it is no workbook, lacks the sheet, or has a cell without a certain value.
 */
export async function readWorkbook(
  io: Pick<Io, 'stderr'>,
  { name, path, sheet: wanted }: { name: string; path: string; sheet: string | undefined },
): Promise<{ readonly text: string; readonly rows: readonly number[] }> {
  const { filesInZip } = await import('./zip.ts')
  const { files } = await filesInZip(path, name, (part) => /^xl\/.*\.(xml|rels)$/.test(part))
  const book = new Workbook(name, new Map(files.map((file) => [file.name, file])))
  const sheets = await book.sheets()
  const shown = sheets.filter(({ isHidden }) => !isHidden)
  const sheet =
    wanted === undefined
      ? shown[0]
      : (sheets.find((each) => each.name === wanted) ?? sheets[Number(wanted) - 1])
  if (!sheet) {
    const names = sheets.map((each) => JSON.stringify(each.name)).join(', ')
    throw new UsageError(
      wanted === undefined ? `${name} has no sheet` : `${name} has no sheet ${JSON.stringify(wanted)}`,
      {
        ...(names !== '' && { why: [`Its sheets: ${names}`] }),
      },
    )
  }
  if (wanted === undefined && shown.length > 1) {
    await note(
      io,
      `Reading sheet ${JSON.stringify(sheet.name)} of ${name}, one of ${shown.length}; --sheet names another`,
    )
  }
  return csvOf(await book.cells(sheet))
}

/** Cells by row and column, both from 0. */
type Cells = readonly (readonly string[] | undefined)[]

/** Returns the cells as CSV, and the row of each of its lines: a cell may have several. */
function csvOf(cells: Cells): { readonly text: string; readonly rows: readonly number[] } {
  const width = Math.max(
    0,
    ...(cells[cells.findIndex((row) => row !== undefined)] ?? []).map((_, index) => index + 1),
  )
  const rows: number[] = []
  let text = ''
  for (let index = 0; index < cells.length; index += 1) {
    const row = cells[index] ?? []
    const isEmpty = !row.some((cell) => cell)
    const length = Math.max(width, row.findLastIndex((cell) => cell) + 1)
    const line = isEmpty
      ? ''
      : Array.from({ length }, (_, column) => csvText(row[column] ?? '', false)).join(',')
    for (const _ of line.split(/\r\n|\r|\n/)) rows.push(index + 1)
    text += `${line}\r\n`
  }
  return { text, rows }
}

type NumberFormat = 'day' | 'time' | 'percent' | null

class Workbook {
  readonly #name: string
  readonly #files: ReadonlyMap<string, PackedFile>
  /** Days from the epoch of the workbook to 1970-01-01. */
  #epoch: number = epoch1900

  constructor(name: string, files: ReadonlyMap<string, PackedFile>) {
    this.#name = name
    this.#files = files
  }

  async sheets(): Promise<readonly Sheet[]> {
    const parts = new Map<string, string>()
    await this.#read('xl/_rels/workbook.xml.rels', {
      open: (tag, { Id: id, Target: target = '' }) => {
        if (tag === 'Relationship' && id !== undefined) {
          parts.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
        }
      },
    })
    const sheets: Sheet[] = []
    await this.#read('xl/workbook.xml', {
      open: (tag, attributes) => {
        if (tag === 'workbookPr' && isOn(attributes['date1904'])) this.#epoch = epoch1904
        const part = parts.get(attributes['id'] ?? '')
        if (tag !== 'sheet' || part === undefined || !/\/worksheets\//.test(part)) return
        const { name = '', state = 'visible' } = attributes
        sheets.push({ name, part, isHidden: state !== 'visible' })
      },
    })
    return sheets
  }

  async cells({ part, name: sheet }: Sheet): Promise<Cells> {
    const texts = await this.#texts()
    const formats = await this.#formats()
    const rows: string[][] = []
    let [row, column] = [-1, -1]
    let cell: { type: string; format: NumberFormat; text: string; isFormula: boolean } | null = null
    let isValue = false
    const refuse = (reason: string) => {
      const place = `${columnName(column)}${row + 1}`
      return new UsageError(`${this.#name}: cell ${place} of sheet ${JSON.stringify(sheet)} ${reason}`)
    }
    await this.#read(part, {
      open: (tag, attributes) => {
        if (tag === 'row') {
          row = attributes['r'] === undefined ? row + 1 : Number(attributes['r']) - 1
          column = -1
          if (!(row >= 0 && row < maxRows)) throw refuse('is out of range')
        } else if (tag === 'c') {
          column = attributes['r'] === undefined ? column + 1 : columnOf(attributes['r'])
          if (!(column >= 0 && column < maxColumns)) throw refuse('is out of range')
          const format = formats[Number(attributes['s'] ?? 0)] ?? null
          cell = { type: attributes['t'] ?? 'n', format, text: '', isFormula: false }
        } else if (tag === 'f' && cell) cell.isFormula = true
        isValue = tag === 'v' || tag === 't'
      },
      text: (text) => {
        if (cell && isValue) cell.text += text
      },
      close: (tag) => {
        isValue = false
        if (tag !== 'c' || !cell) return
        const { type, format, text, isFormula } = cell
        cell = null
        if (type === 'e') throw refuse(`is an error: ${text}`)
        if (text === '' && isFormula && type !== 'str') {
          throw refuse('is a formula without a value; open the file in a spreadsheet and save it')
        }
        const value =
          type === 's'
            ? (texts[Number(text)] ?? '')
            : type === 'b'
              ? String(isOn(text))
              : type === 'n' && text !== ''
                ? numberText(Number(text), format, this.#epoch)
                : text
        if (value === '') return
        rows[row] ??= []
        rows[row]![column] = value
      },
    })
    return rows
  }

  /** Leaves out the reading aids of Japanese. */
  async #texts(): Promise<readonly string[]> {
    const texts: string[] = []
    let isText = false
    let isAid = false
    await this.#read('xl/sharedStrings.xml', {
      open: (tag) => {
        if (tag === 'si') texts.push('')
        if (tag === 'rPh') isAid = true
        isText = tag === 't' && !isAid
      },
      text: (text) => {
        if (isText) texts[texts.length - 1] += text
      },
      close: (tag) => {
        isText = false
        if (tag === 'rPh') isAid = false
      },
    })
    return texts
  }

  /** Returns what numbers mean in each style. */
  async #formats(): Promise<readonly NumberFormat[]> {
    const codes = new Map<number, string>()
    const formats: NumberFormat[] = []
    let isCells = false
    await this.#read('xl/styles.xml', {
      open: (tag, { numFmtId = '0', formatCode = '' }) => {
        if (tag === 'numFmt') codes.set(Number(numFmtId), formatCode)
        if (tag === 'cellXfs') isCells = true
        if (tag === 'xf' && isCells) formats.push(meaningOf(Number(numFmtId), codes.get(Number(numFmtId))))
      },
      close: (tag) => {
        if (tag === 'cellXfs') isCells = false
      },
    })
    return formats
  }

  /** Names have no prefix. A missing part is not read. */
  async #read(part: string, on: Handlers): Promise<void> {
    const file = this.#files.get(part)
    if (!file) return
    const { default: sax } = await import('sax')
    const parser = sax.parser(true, { position: false })
    const local = (name: string) => name.slice(name.indexOf(':') + 1)
    parser.onopentag = ({ name, attributes }) => {
      const plain = Object.entries(attributes).map(([key, value]) => [local(key), String(value)] as const)
      on.open(local(name), Object.fromEntries(plain))
    }
    parser.ontext = (text) => on.text?.(text)
    parser.oncdata = (text) => on.text?.(text)
    parser.onclosetag = (name) => on.close?.(local(name))
    parser.onerror = (cause) => {
      throw new UsageError(`Cannot read ${this.#name}: ${part} is damaged`, { cause })
    }
    const decoder = new TextDecoder()
    for await (const bytes of file.bytes()) parser.write(decoder.decode(bytes, { stream: true }))
    parser.write(decoder.decode()).close()
  }
}

interface Handlers {
  open(tag: string, attributes: Readonly<Record<string, string>>): void
  text?(text: string): void
  close?(tag: string): void
}

/** Limits of a sheet (Excel specifications and limits). */
const [maxRows, maxColumns] = [1_048_576, 16_384] as const
/** Days from 1899-12-30 and from 1904-01-01 to 1970-01-01. */
const [epoch1900, epoch1904] = [25_569, 24_107] as const
const dayMs = 86_400_000

/** Formats that every workbook has (ECMA-376, part 1, 18.8.30); those of Asian locales included. */
const days: ReadonlySet<number> = new Set([
  14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58,
])
const times: ReadonlySet<number> = new Set([18, 19, 20, 21, 22, 32, 33, 34, 35, 45, 46, 47, 55, 56])
const percents: ReadonlySet<number> = new Set([9, 10])

function meaningOf(id: number, code: string | undefined): NumberFormat {
  if (code === undefined)
    return days.has(id) ? 'day' : times.has(id) ? 'time' : percents.has(id) ? 'percent' : null
  // Without quoted text, escaped characters, and colours or conditions.
  const signs = code.replace(/"[^"]*"|\\.|_.|\[(?![hms]+\])[^\]]*\]/gi, '').replace(/general/gi, '')
  if (/[hs]/i.test(signs)) return 'time'
  if (/[dmy]/i.test(signs)) return 'day'
  return signs.includes('%') ? 'percent' : null
}

/** Returns a number as a spreadsheet shows it: with 15 digits, in percent, or as a day or a time without a zone. */
function numberText(value: number, format: NumberFormat, epoch: number): string {
  if (format === 'percent') return `${String(rounded(value * 100))}%`
  if (format === null) return String(rounded(value))
  const time = new Date(Math.round((value - epoch) * dayMs))
  if (Number.isNaN(time.getTime())) return String(value)
  const text = time.toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 19)
}

function rounded(value: number): number {
  return Number(value.toPrecision(15))
}

function isOn(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/** `AB12`, from 0. */
function columnOf(reference: string): number {
  const [letters = ''] = /^[A-Z]+/.exec(reference) ?? []
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26))
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter
}
