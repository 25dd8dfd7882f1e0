import type { Child } from 'hono/jsx'
import { type CsvValue, csvRecord } from '../../codec/csv.ts'
import type { Operation } from '../../contract/operation.ts'
import { type TableColumn, TableError, textOf, valueAt } from '../../tables/column.ts'
import type { Reply } from '../http/reply.ts'
import { isClientGone } from '../http/request-context.ts'
import { withTransaction } from '../http/web-route.ts'
import { ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { type PageQuery, pathWith, withoutPageOf } from './list-parameters.tsx'
import { formatCount } from './values.tsx'

export interface FilePage<Item = unknown> {
  readonly data: readonly Item[]
  readonly nextCursor: string | null
}

interface TableFile {
  readonly path: DashboardPage['path']
  readonly formats?: readonly Format[]
  /** List of the API whose columns the rows have. */
  readonly operation: Operation
  /** If the operation is no list. */
  readonly columns?: readonly TableColumn[]
  readonly omit?: readonly string[]
  /** Throws ProblemError, such as 403. */
  readonly read: (signedIn: SignedInRequest, page: PageQuery) => Promise<FilePage>
}

type Format = 'csv' | 'xlsx'

const formats: readonly Format[] = ['csv', 'xlsx']
const rowsPerPage = '100'
/** A workbook is complete in memory before it is sent. */
const maxXlsxRows = 20_000

export function tableFilePages(file: TableFile): DashboardPage[] {
  return (file.formats ?? formats).map((format) => ({
    path: `${file.path}.${format}`,
    isLong: () => true,
    show: (signedIn) => (format === 'csv' ? sendCsv(file, signedIn) : sendXlsx(file, signedIn)),
  }))
}

/** Page by page; the first one is read before the reply, so that its faults are a page. */
async function sendCsv(file: TableFile, signedIn: SignedInRequest): Promise<Reply> {
  const columns = await columnsOf(file)
  const first = await file.read(signedIn, { limit: rowsPerPage, cursor: undefined })
  return {
    status: 200,
    headers: fileHeaders(signedIn, 'text/csv; charset=utf-8; header=present', `${nameOf(file)}.csv`),
    body: csvChunks(file, signedIn, columns, first),
  }
}

async function* csvChunks(
  file: TableFile,
  signedIn: SignedInRequest,
  columns: readonly TableColumn[],
  first: FilePage,
) {
  const { database } = signedIn.academy
  const plain = columns.map(({ type }) => type !== 'string')
  const toLine = (record: unknown) =>
    csvRecord(
      columns.map(({ path }) => cellOf(valueAt(record, path))),
      false,
      plain,
    )
  const header = csvRecord(
    columns.map(({ name }) => name),
    true,
  )
  // Files downloaded from a page are opened in spreadsheets, which recognise UTF-8 by its byte order mark.
  yield `\ufeff${header}`
  // The view of the request ended with the reply: each page has its own.
  const readNext = (cursor: string) =>
    database.read((view) => file.read(withTransaction(signedIn, view), { limit: rowsPerPage, cursor }))
  for await (const records of pagesOf(first, readNext)) yield records.map(toLine).join('')
}

function cellOf(value: unknown): CsvValue {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? textOf(value) : (value as CsvValue)
}

async function sendXlsx(file: TableFile, signedIn: SignedInRequest): Promise<Reply> {
  const first = await file.read(signedIn, { limit: rowsPerPage, cursor: undefined })
  const pages = pagesOf(first, (cursor) => file.read(signedIn, { limit: rowsPerPage, cursor }))
  return sendWorkbook(signedIn, await columnsOf(file), nameOf(file), pages)
}

/** The name of the file says so if it has not all rows. */
async function sendWorkbook(
  signedIn: SignedInRequest,
  columns: readonly TableColumn[],
  name: string,
  batches: AsyncIterable<readonly unknown[]>,
): Promise<Reply> {
  // Loaded for these files alone: the encoder brings a compressor.
  const { maxXlsxCells, xlsxEncoder } = await import('../../tables/xlsx.ts')
  const maxRows = Math.min(maxXlsxRows, Math.floor(maxXlsxCells / columns.length))
  const chunks: Uint8Array[] = []
  const encoder = xlsxEncoder(columns, (bytes) => void chunks.push(bytes))
  let room = maxRows
  let isPart = false
  try {
    for await (const batch of batches) {
      await encoder.rows(batch.slice(0, room))
      isPart = batch.length > room
      room = Math.max(0, room - batch.length)
      if (isPart || isClientGone(signedIn.request)) break
    }
    await encoder.end()
  } catch (error) {
    if (error instanceof TableError)
      throw new ProblemError('invalid_parameter', `${error.message}. Download CSV instead.`)
    throw error
  }
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const given = `${isPart ? `${name}_first_${maxRows}` : name}.xlsx`
  return { status: 200, headers: fileHeaders(signedIn, type, given), body: each(chunks) }
}

export function workbookPage({
  path,
  operation,
  rows,
}: Pick<TableFile, 'path' | 'operation'> & {
  /** Throws ProblemError, such as 403. */
  readonly rows: (
    signedIn: SignedInRequest,
  ) => Promise<{ readonly name: string; readonly batches: AsyncIterable<readonly unknown[]> }>
}): DashboardPage {
  return {
    path: `${path}.xlsx` as DashboardPage['path'],
    isLong: () => true,
    async show(signedIn) {
      const { name, batches } = await rows(signedIn)
      return sendWorkbook(signedIn, await columnsOf({ operation }), name, batches)
    },
  }
}

async function* pagesOf(first: FilePage, readNext: (cursor: string) => Promise<FilePage>) {
  yield first.data
  for (let cursor = first.nextCursor; cursor !== null; ) {
    const page = await readNext(cursor)
    yield page.data
    cursor = page.nextCursor
  }
}

async function* each(chunks: readonly Uint8Array[]) {
  yield* chunks
}

function fileHeaders({ visitor }: SignedInRequest, type: string, name: string) {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    ...visitor.headers,
  }
}

function nameOf({ path }: TableFile): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function columnsOf({
  operation,
  columns,
  omit = [],
}: Pick<TableFile, 'operation' | 'columns' | 'omit'>): Promise<readonly TableColumn[]> {
  if (columns) return columns
  const { tables } = await import('../../tables/dictionary.ts')
  const table = tables.find((one) => one.operation === operation.id)
  if (!table) throw new TypeError(`${operation.id} has no columns`)
  return table.columns.filter(({ path }) => !omit.includes(path))
}

/**
 * @param path of the files, without the extension
 * @param of content, if it is not that of the table
 * @param search default: the parameters of the page
 */
export function fileLinks(
  { base, query }: SignedInRequest,
  path: string,
  of?: string,
  search = withoutPageOf(query),
): Child {
  const address = (format: Format) => pathWith(`${base}${path}.${format}`, search)
  return (
    <p class="files">
      {of === undefined ? 'Download' : `Download ${of}`}{' '}
      <a href={address('csv')} aria-label="Download CSV">
        CSV
      </a>{' '}
      <a href={address('xlsx')} aria-label="Download XLSX">
        XLSX
      </a>{' '}
      <span class="note">{`(up to ${formatCount(maxXlsxRows)} rows)`}</span>
    </p>
  )
}
