import { ConnectionError, TimeoutError } from '../../client/errors.ts'
import { retryAfterOf } from '../../client/problem.ts'
import { readBytes } from '../../client/reply.ts'
import { userAgent } from '../../client/undici.ts'
import { isJsonObject, type JsonObject, jsonText, parseJsonOrNull } from '../../codec/json-text.ts'
import { valueAt } from '../../tables/column.ts'
import type { Context } from '../command/context.ts'
import { type GoogleAccess, openGoogleAccess, sheetsUrl } from '../command/google-access.ts'
import { type Column, cellText } from '../output/columns.ts'
import type { ListEncoder } from '../output/formats/format.ts'
import { CommandError, type ExitName } from '../terminal/errors.ts'
import type { TargetFile } from '../terminal/target-file.ts'
import type { SheetPlace } from './sheet-flag.ts'

/** The tab is replaced in one request, which makes that atomic. */
const maxRequestBytes = 32 * 1024 * 1024
/** Google ends a request after 180 seconds. */
const timeoutMs = 190_000
const maxResponseBytes = 4 * 1024 * 1024
/** Quotas are per minute. */
const maxWaitMs = 60_000

/** A tab that is replaced completely or not at all. */
interface SheetTarget extends TargetFile {
  readonly name: string
}

interface Tab {
  readonly id: number
  readonly title: string
  readonly isGrid: boolean
  readonly rows: number
  readonly columns: number
}

interface Spreadsheet {
  readonly title: string
  readonly tabs: readonly Tab[]
}

/** `finish` replaces all cells in one request, or adds the tab; formats and other tabs stay. */
export async function openSheet(context: Context, place: SheetPlace): Promise<SheetTarget> {
  const api = new SheetsApi(context, place.spreadsheet)
  const found = await api.retried(() => api.read())
  const title = assertWritable(place, found)
  const pieces: Uint8Array[] = []
  let size = 0
  return {
    name: `tab ${JSON.stringify(title)} of ${JSON.stringify(found.title)}`,
    write: async (bytes) => {
      size += bytes.length
      if (size > maxRequestBytes) throw tooLarge()
      pieces.push(bytes)
    },
    finish: async () => {
      const lines = Buffer.concat(pieces).toString('utf8').trimEnd().split('\n')
      // Read again before each attempt: a request without a response may have added the tab.
      await api.retried(async () => api.replace(place, await api.read(), lines))
    },
    discard: async () => {},
  }
}

/** Returns the name of the tab. Throws a CommandError if it cannot hold cells. */
function assertWritable(place: SheetPlace, found: Spreadsheet): string {
  const tab = tabOf(place, found)
  if (tab?.isGrid === false) {
    throw new CommandError('not_a_table', 'usage', `Tab ${JSON.stringify(tab.title)} has no cells`, {
      why: ['It is a chart or a connected data source'],
    })
  }
  if (tab) return tab.title
  if (typeof place.tab === 'string') return place.tab
  throw new CommandError(
    'not_found',
    'notFound',
    `${JSON.stringify(found.title)} has no tab gid=${place.tab}`,
    {
      why: [`Tabs: ${found.tabs.map(({ title, id }) => `${title} (gid=${id})`).join(', ')}`],
    },
  )
}

function tabOf({ tab }: SheetPlace, { tabs }: Spreadsheet): Tab | undefined {
  if (typeof tab === 'number') return tabs.find(({ id }) => id === tab)
  const name = tab.toLowerCase()
  // Google compares names without case.
  return tabs.find(({ title }) => title === tab) ?? tabs.find(({ title }) => title.toLowerCase() === name)
}

function tooLarge(): CommandError {
  const message = `The table is larger than ${maxRequestBytes / 1024 / 1024} MiB, and a tab is replaced in one request`
  return new CommandError('sheet_too_large', 'failure', message, {
    hint: 'Choose fewer columns with --columns, narrow it with filters, or write a file with --file',
  })
}

class SheetsError extends CommandError {
  override readonly name = 'SheetsError'
  readonly isTransient: boolean
  readonly retryAfterMs: number | null

  constructor(
    code: string,
    exit: ExitName,
    message: string,
    options: { why?: string[]; hint?: string; retryAfterMs?: number | null; isTransient?: boolean } = {},
  ) {
    super(code, exit, message, options)
    this.isTransient = options.isTransient ?? false
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

class SheetsApi {
  readonly #context: Context
  readonly #access: GoogleAccess
  readonly #path: string
  readonly #id: string

  constructor(context: Context, id: string) {
    this.#context = context
    this.#access = openGoogleAccess(context)
    this.#id = id
    this.#path = `/v4/spreadsheets/${id}`
  }

  /** Runs work until it succeeds, fails permanently, or has used all attempts. */
  async retried<Result>(work: () => Promise<Result>): Promise<Result> {
    const { io, settings, output } = this.#context
    for (let attempt = 0; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        io.signal.throwIfAborted()
        if (!isTransient(error) || attempt >= settings.retries.value) throw error
        const told = error instanceof SheetsError ? error.retryAfterMs : null
        if (told !== null && told > maxWaitMs) throw error
        const waitMs = told ?? Math.min(maxWaitMs, 2000 * 4 ** attempt) * (0.5 + io.random() / 2)
        await output.note(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s`)
        await io.sleep(waitMs, io.signal)
      }
    }
  }

  async read(): Promise<Spreadsheet> {
    const fields =
      'spreadsheetId,properties.title,sheets.properties(sheetId,title,sheetType,gridProperties(rowCount,columnCount))'
    const found = await this.#send('GET', `${this.#path}?fields=${encodeURIComponent(fields)}`)
    const { spreadsheetId, properties, sheets } = found
    if (spreadsheetId !== this.#id || !Array.isArray(sheets)) throw unusable('It is not the spreadsheet')
    const title = isJsonObject(properties) ? String(properties['title'] ?? '') : ''
    return { title, tabs: sheets.map(tabIn) }
  }

  /** `spreadsheets.batchUpdate`, which applies all of its requests or none. */
  async replace(place: SheetPlace, found: Spreadsheet, lines: readonly string[]): Promise<void> {
    const tab = tabOf(place, found)
    const title = assertWritable(place, found)
    const rows = lines.length
    const columns = columnsIn(lines[0] ?? '')
    const grid = {
      rowCount: Math.max(rows, tab?.rows ?? 1),
      columnCount: Math.max(columns, tab?.columns ?? 1),
    }
    const sheetId = tab?.id ?? unusedId(found)
    const size =
      tab === undefined
        ? { addSheet: { properties: { sheetId, title, gridProperties: grid } } }
        : {
            updateSheetProperties: {
              properties: { sheetId, gridProperties: grid },
              fields: 'gridProperties(rowCount,columnCount)',
            },
          }
    // A range without bounds is the whole tab: cells that no row covers are cleared.
    const update = `{"updateCells":{"range":{"sheetId":${sheetId}},"fields":"userEnteredValue","rows":[${lines.join(',')}]}}`
    const body = `{"requests":[${JSON.stringify(size)},${update}]}`
    const answer = await this.#send('POST', `${this.#path}:batchUpdate`, body)
    const { spreadsheetId, replies } = answer
    if (spreadsheetId === this.#id && Array.isArray(replies) && replies.length === 2) return
    throw unusable('It does not say that the cells were written')
  }

  async #send(method: string, path: string, body?: string): Promise<JsonObject> {
    const { tokens, signInCommand } = this.#access
    const token = await tokens.current()
    let answer = await this.#exchange(method, path, token, body)
    if (answer.status === 401) {
      const other = await tokens.after(token)
      if (other !== null) answer = await this.#exchange(method, path, other, body)
    }
    const value = parseJsonOrNull(answer.text)
    if (answer.status === 200 && isJsonObject(value)) return value
    throw errorOf(answer, value, this.#id, signInCommand)
  }

  async #exchange(method: string, path: string, token: string, body: string | undefined): Promise<Answer> {
    const { io, session } = this.#context
    const late = AbortSignal.timeout(timeoutMs)
    const request = {
      method,
      url: sheetsUrl + path,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': userAgent,
        ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.any([io.signal, late]),
    }
    try {
      const reply = await session.network(request)
      const bytes = await readBytes(reply, maxResponseBytes)
      if (bytes === null) throw unusable('It is larger than 4 MiB')
      const retryAfterMs = retryAfterOf(reply, io.now())
      return { status: reply.status, text: bytes.toString('utf8'), retryAfterMs }
    } catch (error) {
      io.signal.throwIfAborted()
      if (!late.aborted) throw error
      const message = `Google Sheets did not respond within ${timeoutMs / 1000} s`
      throw new SheetsError('timeout', 'unavailable', message, { isTransient: true })
    }
  }
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | null
}

function isTransient(error: unknown): error is Error {
  if (error instanceof SheetsError) return error.isTransient
  return error instanceof ConnectionError || error instanceof TimeoutError
}

function tabIn(sheet: unknown): Tab {
  const properties = isJsonObject(sheet) ? sheet['properties'] : null
  if (!isJsonObject(properties)) throw unusable('A tab has no properties')
  const { sheetId, title, sheetType, gridProperties } = properties
  const grid = isJsonObject(gridProperties) ? gridProperties : {}
  return {
    // JSON of Google's may omit a number that is 0.
    id: Number(sheetId ?? 0),
    title: String(title ?? ''),
    isGrid: sheetType === undefined || sheetType === 'GRID',
    rows: Number(grid['rowCount'] ?? 0),
    columns: Number(grid['columnCount'] ?? 0),
  }
}

function columnsIn(line: string): number {
  const row = parseJsonOrNull(line)
  return isJsonObject(row) && Array.isArray(row['values']) ? row['values'].length : 0
}

function unusedId({ tabs }: Spreadsheet): number {
  const used = new Set(tabs.map(({ id }) => id))
  let id = tabs.length + 1
  while (used.has(id)) id += 1
  return id
}

function unusable(why: string): SheetsError {
  return new SheetsError('answer_unusable', 'failure', 'Google Sheets returned an unusable response', {
    why: [why],
  })
}

/** Returns the error of a response (google.rpc.Status with ErrorInfo). */
function errorOf(answer: Answer, value: unknown, id: string, signInCommand: string): SheetsError {
  const { status, retryAfterMs } = answer
  if (status === 200) return unusable('It is not JSON')
  const fault = isJsonObject(value) && isJsonObject(value['error']) ? value['error'] : {}
  const said = typeof fault['message'] === 'string' ? fault['message'].slice(0, 500) : null
  const why = [`Google says: ${said ?? `status ${status}`}`]
  const details: readonly unknown[] = Array.isArray(fault['details']) ? fault['details'] : []
  const reasons = details.flatMap((detail) => (isJsonObject(detail) ? [detail['reason']] : []))
  const again = `Sign in again: ${signInCommand}`
  switch (status) {
    case 401:
      return new SheetsError('signed_out', 'auth', 'Google does not accept the sign-in', { why, hint: again })
    case 403:
      if (reasons.includes('SERVICE_DISABLED') || /has not been used|is disabled/.test(said ?? '')) {
        const message = 'The Google Sheets API is not enabled in the project of your OAuth client'
        const hint =
          'Enable it in Google Cloud Console, APIs & Services > Library, and try again after a few minutes'
        return new SheetsError('api_disabled', 'forbidden', message, { why, hint })
      }
      if (reasons.includes('ACCESS_TOKEN_SCOPE_INSUFFICIENT') || /insufficient.*scope/i.test(said ?? '')) {
        const message = 'The sign-in does not allow access to spreadsheets'
        return new SheetsError('missing_scope', 'forbidden', message, { why, hint: again })
      }
      return new SheetsError('forbidden', 'forbidden', `Permission denied for spreadsheet ${id}`, {
        why,
        hint: 'Share it as Editor with the account that signed in, or sign in with another account',
      })
    case 404:
      return new SheetsError('not_found', 'notFound', `Spreadsheet not found: ${id}`, {
        why,
        hint: 'Copy the id from its URL: https://docs.google.com/spreadsheets/d/<id>/edit',
      })
    case 429:
      return new SheetsError('quota', 'unavailable', 'The quota of Google Sheets is used up', {
        why,
        hint: 'Try again in a minute',
        retryAfterMs,
        isTransient: true,
      })
    case 400:
      return new SheetsError('refused', 'usage', `Google Sheets refused to write to spreadsheet ${id}`, {
        why,
        hint: 'Check that it is a Google spreadsheet, not an Excel file, and that the tab is not protected',
      })
    default:
      return new SheetsError(
        'server_error',
        status === 503 ? 'unavailable' : 'failure',
        `Google Sheets failed (status ${status})`,
        { why, retryAfterMs, isTransient: status >= 500 },
      )
  }
}

/** Limit of Google Sheets. */
const maxCellLength = 50_000

/**
 * Encodes rows as one `RowData` of the Google Sheets API per line, the first with the names of the columns. Numbers and
 * booleans keep their type; ids and all other values are text, which is never taken for a formula.
 */
export function sheetRows(columns: readonly Column[]): ListEncoder {
  let written = 0
  const lineOf = (cells: readonly object[]) => `${jsonText({ values: cells })}\n`
  const header = () => lineOf(columns.map(({ label }) => ({ userEnteredValue: { stringValue: label } })))
  const lead = () => (written === 0 ? header() : '')
  return {
    rows: (values) => {
      if (values.length === 0) return ''
      let text = lead()
      for (const value of values) {
        written += 1
        text += lineOf(columns.map((column) => cellOf(column, valueAt(value, column.path), written)))
      }
      return text
    },
    end: lead,
  }
}

/** Returns a `CellData`; an empty one clears the cell. */
function cellOf({ path, label }: Column, value: unknown, row: number): object {
  const isId = /(?:^|[.a-z])(?:id|Id)$/.test(path)
  if (typeof value === 'boolean') return { userEnteredValue: { boolValue: value } }
  if (typeof value === 'number' && !isId) return { userEnteredValue: { numberValue: value } }
  const text = cellText(value)
  if (text === '') return {}
  if (text.length <= maxCellLength) return { userEnteredValue: { stringValue: text } }
  throw new CommandError('cell_too_long', 'failure', `${label} of row ${row} is too long for a cell`, {
    why: [`It has ${text.length} characters; Google Sheets allows ${maxCellLength}`],
    hint: 'Choose other columns with --columns, or write a file with --file',
  })
}
