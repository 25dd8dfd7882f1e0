import { auth, sheets } from '@googleapis/sheets'
import { expect, onTestFinished } from 'vitest'
import { test as base, type TestCliOptions } from '../helpers/cli.ts'
import { createFakeSheets, type FakeSheets, sheetsClient, spreadsheetId } from '../helpers/fake-sheets.ts'
import { type FakeRequest, type FakeSystem, serveFake } from '../helpers/fake-system.ts'

/** A request to the API: method, path, query and body. */
type Seen = readonly [method: string, path: string, query: Record<string, string>, body: unknown]

/** Returns a stand-in that notes the requests to the API, whatever its address. */
function noted(fake: FakeSheets, seen: Seen[]): FakeSystem {
  return (request: FakeRequest) => {
    const { method, url, body } = request
    const isApi = url.pathname.startsWith('/v4/')
    if (isApi)
      seen.push([method, url.pathname, Object.fromEntries(url.searchParams), body && JSON.parse(body)])
    const host = isApi ? 'sheets.googleapis.com' : 'oauth2.googleapis.com'
    return fake.system({ ...request, url: new URL(url.pathname + url.search, `https://${host}`) })
  }
}

let fake = createFakeSheets()
let seen: Seen[] = []

const test = base.extend('options', {
  transport: async ({ method, url, headers, body }) => {
    const answer = await noted(fake, seen)({ method, url: new URL(url), headers, body: String(body ?? '') })
    return { status: answer.status, headers: answer.headers ?? {}, body: answer.body }
  },
  openBrowser: async (address: string) => {
    const shown = new URL(address)
    const back = new URL(shown.searchParams.get('redirect_uri') ?? '')
    const state = shown.searchParams.get('state') ?? ''
    const query = { state, iss: 'https://accounts.google.com', code: '4/a-code' }
    for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value)
    void fetch(back).then((response) => response.text())
  },
  sleep: async (ms, signal) => {
    if (ms >= 300_000) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
  },
  env: { DISPLAY: ':0' },
} as TestCliOptions)

/** Replaces a tab by Google's client library, with the requests that its types allow. */
async function replaceTab(other: FakeSheets, title: string, values: readonly string[][], from: Seen[]) {
  const served = await serveFake(noted(other, from))
  onTestFinished(() => served.close())
  const user = new auth.OAuth2({
    ...{ clientId: sheetsClient.id, clientSecret: sheetsClient.secret },
    endpoints: { oauth2TokenUrl: `${served.url}/token` },
  })
  user.setCredentials({ refresh_token: sheetsClient.refreshToken })
  const { spreadsheets } = sheets({ version: 'v4', auth: user, rootUrl: `${served.url}/` })
  const fields =
    'spreadsheetId,properties.title,sheets.properties(sheetId,title,sheetType,gridProperties(rowCount,columnCount))'
  await spreadsheets.get({ spreadsheetId, fields })
  const { data } = await spreadsheets.get({ spreadsheetId, fields })
  const sheetId = (data.sheets?.length ?? 0) + 1
  const gridProperties = { rowCount: values.length, columnCount: values[0]?.length ?? 0 }
  const rows = values.map((cells) => ({
    values: cells.map((stringValue) => ({ userEnteredValue: { stringValue } })),
  }))
  const requests = [
    { addSheet: { properties: { sheetId, title, gridProperties } } },
    { updateCells: { range: { sheetId }, fields: 'userEnteredValue', rows } },
  ]
  return spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } })
}

test('Google’s client library replaces a tab with the same requests, and reads the answers of the stand-in', async ({
  local,
}) => {
  fake = createFakeSheets()
  seen = []
  const signIn = `auth google --client-id ${sheetsClient.id} --client-secret-stdin`
  expect(await local.run(signIn, { stdin: sheetsClient.secret })).toMatchObject({ code: 0 })
  await local.run('terms create --name Spring --external-id 007')
  const ran = await local.run(`terms list --columns externalId,name --to-sheet ${spreadsheetId}#Terms`)
  expect(ran).toMatchObject({ code: 0 })
  const [other, from] = [createFakeSheets(), [] as Seen[]]
  const values = [
    ['externalId', 'name'],
    ['007', 'Spring'],
  ]
  const { data } = await replaceTab(other, 'Terms', values, from)
  expect(data.replies).toHaveLength(2)
  expect(seen).toEqual(from)
  expect(fake.table('Terms')).toEqual(values)
  expect(other.table('Terms')).toEqual(values)
})
