import type { Transport } from '../../src/contract/http.ts'
import { googleClient, invalid, notFound, Refusal } from './fake-classroom.ts'
import { type FakeRequest, type FakeResponse, json } from './fake-system.ts'

/*
 * A stand-in for Google Sheets and Google's token endpoints, written from the discovery document of Sheets v4
 * (googleapis/google-api-nodejs-client@6a65e572, discovery/sheets-v4.json), its limits
 * (developers.google.com/workspace/sheets/api/limits) and, for tokens, RFC 6749 and 7009.
 */

type Cell = string | number | boolean

/** A tab: only its cells that are not empty, by row and column. */
interface FakeTab {
  id: number
  title: string
  type: string
  rows: number
  columns: number
  cells: Map<string, Cell>
}

/** What goes wrong: a status with the error of Google, `lost` after it was done (500), or a login page with 200. */
export interface SheetsFault {
  readonly method: 'GET' | 'POST'
  readonly answer: number | 'lost' | 'page' | 'empty'
  readonly reason?: string
  readonly message?: string
  readonly headers?: Record<string, string>
  times: number
}

/** A spreadsheet and what happened to it. */
export type FakeSheets = ReturnType<typeof createFakeSheets>

/** The OAuth client of the tests. */
export const sheetsClient = googleClient
/** Id of the spreadsheet of the tests. */
export const spreadsheetId = '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms'

/** Returns a transport that reaches only this stand-in. */
export function transportToGoogle(fake: FakeSheets): Transport {
  return async ({ method, url, headers, body }) => {
    const answer = fake.system({ method, url: new URL(url), headers, body: String(body ?? '') })
    return { status: answer.status, headers: answer.headers ?? {}, body: answer.body }
  }
}

/** Creates a spreadsheet with one tab that has cells. */
export function createFakeSheets() {
  let issued = 0
  let valid = ''

  function token({ body }: FakeRequest): FakeResponse {
    const form = new URLSearchParams(body)
    fake.grants.push(form)
    if (fake.refusesGrants !== null) {
      const error_description = 'Token has been expired or revoked.'
      return json({ error: fake.refusesGrants, error_description }, 400)
    }
    issued += 1
    valid = `ya29.access-${issued}`
    const isFirst = form.get('grant_type') === 'authorization_code'
    return json({
      access_token: valid,
      expires_in: 3599,
      token_type: 'Bearer',
      scope: fake.scopes,
      ...(isFirst && { refresh_token: googleClient.refreshToken }),
    })
  }

  function batch(requests: Record<string, Record<string, unknown>>[]): FakeResponse {
    // Each request is validated and applied to a copy, which replaces the tabs as a whole.
    const tabs = structuredClone(fake.tabs)
    const replies: object[] = []
    for (const request of requests) {
      if (request['addSheet']) replies.push(add(tabs, request['addSheet']))
      else if (request['updateSheetProperties']) replies.push(resize(tabs, request['updateSheetProperties']))
      else if (request['updateCells']) replies.push(write(tabs, request['updateCells']))
      else throw new Refusal(400, 'INVALID_ARGUMENT', 'Unknown request')
    }
    fake.tabs = tabs
    return json({ spreadsheetId, replies })
  }

  const fake = {
    id: spreadsheetId,
    tabs: [
      { id: 0, title: 'Notes', type: 'GRID', rows: 1000, columns: 26, cells: new Map([['0:0', 'keep me']]) },
      { id: 77, title: 'Chart', type: 'OBJECT', rows: 0, columns: 0, cells: new Map() },
    ] as FakeTab[],
    requests: [] as { readonly method: string; readonly path: string; readonly body: string }[],
    grants: [] as URLSearchParams[],
    revoked: [] as string[],
    faults: [] as SheetsFault[],
    /** Scopes that the user grants. */
    scopes: 'https://www.googleapis.com/auth/spreadsheets',
    refusesGrants: null as string | null,
    /** Ends all access tokens. */
    revokeTokens: () => {
      valid = ''
    },
    /** Returns the cells of a tab as rows of values; null for an empty one. */
    table: (title: string): (Cell | null)[][] => {
      const tab = fake.tabs.find((each) => each.title === title)
      if (!tab) return []
      const places = [...tab.cells.keys()].map((place) => place.split(':').map(Number))
      const height = Math.max(0, ...places.map(([row = 0]) => row + 1))
      const width = Math.max(0, ...places.map(([, column = 0]) => column + 1))
      return Array.from({ length: height }, (_, row) =>
        Array.from({ length: width }, (_, column) => tab.cells.get(`${row}:${column}`) ?? null),
      )
    },
    system: (request: FakeRequest): FakeResponse => {
      const { host, pathname } = request.url
      if (host === 'oauth2.googleapis.com' && pathname === '/token') return token(request)
      if (host === 'oauth2.googleapis.com' && pathname === '/revoke') {
        fake.revoked.push(new URLSearchParams(request.body).get('token') ?? '')
        return json({})
      }
      if (host !== 'sheets.googleapis.com') throw new Error(`a request to ${host}`)
      fake.requests.push({ method: request.method, path: pathname, body: request.body })
      try {
        return answer(request)
      } catch (error) {
        if (error instanceof Refusal) return error.response
        throw error
      }
    },
  }

  function answer({ method, url, headers, body }: FakeRequest): FakeResponse {
    if (headers['authorization'] !== `Bearer ${valid}`) {
      throw new Refusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    }
    const fault = fake.faults.find((each) => each.method === method && each.times > 0)
    if (fault) fault.times -= 1
    if (typeof fault?.answer === 'number') {
      const { answer, message = 'The caller does not have permission', reason, headers } = fault
      const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }
      throw new Refusal(answer, 'FAULT', message, reason === undefined ? [] : [info], headers)
    }
    if (fault?.answer === 'page') return { status: 200, body: '<html>Sign in</html>' }
    if (fault?.answer === 'empty') return json({})
    if (!url.pathname.startsWith(`/v4/spreadsheets/${spreadsheetId}`)) {
      throw notFound()
    }
    if (method === 'GET') return json(shown(fake.tabs))
    const done = batch(JSON.parse(body).requests)
    if (fault?.answer === 'lost') throw new Refusal(500, 'INTERNAL', 'Internal error encountered.')
    return done
  }

  return fake
}

function shown(tabs: readonly FakeTab[]): object {
  return {
    spreadsheetId,
    properties: { title: 'Spring report' },
    sheets: tabs.map(({ id, title, type, rows, columns }) => ({
      properties: {
        ...(id !== 0 && { sheetId: id }),
        title,
        sheetType: type,
        ...(type === 'GRID' && { gridProperties: { rowCount: rows, columnCount: columns } }),
      },
    })),
  }
}

function gridOf(properties: unknown): { rowCount: number; columnCount: number } {
  return (properties as { gridProperties: { rowCount: number; columnCount: number } }).gridProperties
}

function add(tabs: FakeTab[], { properties }: Record<string, unknown>): object {
  const { sheetId: id, title } = properties as { sheetId: number; title: string }
  const { rowCount: rows, columnCount: columns } = gridOf(properties)
  if (tabs.some((tab) => tab.title.toLowerCase() === title.toLowerCase())) {
    throw invalid(`A sheet with the name "${title}" already exists. Please enter another name.`)
  }
  if (tabs.some((tab) => tab.id === id)) throw invalid(`Sheet with id ${id} already exists.`)
  tabs.push({ id, title, type: 'GRID', rows, columns, cells: new Map() })
  return { addSheet: { properties } }
}

function resize(tabs: FakeTab[], { properties, fields }: Record<string, unknown>): object {
  const { sheetId } = properties as { sheetId: number }
  const tab = tabs.find(({ id }) => id === sheetId)
  if (!tab) throw invalid(`No grid with id: ${sheetId}`)
  if (fields !== 'gridProperties(rowCount,columnCount)') throw invalid('Invalid field')
  const { rowCount, columnCount } = gridOf(properties)
  Object.assign(tab, { rows: rowCount, columns: columnCount })
  return {}
}

function write(tabs: FakeTab[], { range, fields, rows }: Record<string, unknown>): object {
  const { sheetId, ...bounds } = range as { sheetId: number }
  const tab = tabs.find(({ id }) => id === sheetId)
  if (!tab || Object.keys(bounds).length > 0 || fields !== 'userEnteredValue') throw invalid('Invalid range')
  tab.cells.clear()
  const values = rows as { values: { userEnteredValue?: Record<string, Cell> }[] }[]
  if (values.length > tab.rows) throw invalid('The range exceeds the grid limits')
  for (const [row, { values: cells }] of values.entries()) {
    if (cells.length > tab.columns) throw invalid('The range exceeds the grid limits')
    for (const [column, { userEnteredValue }] of cells.entries()) {
      if (userEnteredValue === undefined) continue
      const [kind = '', value = ''] = Object.entries(userEnteredValue)[0] ?? []
      const type = { stringValue: 'string', numberValue: 'number', boolValue: 'boolean' }[kind]
      if (typeof value !== type) throw invalid(`Invalid ${kind}`)
      tab.cells.set(`${row}:${column}`, value)
    }
  }
  return {}
}
