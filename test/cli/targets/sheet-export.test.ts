import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { sheetRows } from '../../../src/cli/targets/sheet-target.ts'
import type { HttpResponse } from '../../../src/contract/http.ts'
import { test as base, type TestCli, type TestCliOptions } from '../../helpers/cli.ts'
import {
  createFakeSheets,
  type FakeSheets,
  type SheetsFault,
  sheetsClient,
  spreadsheetId,
  transportToGoogle,
} from '../../helpers/fake-sheets.ts'

let fake: FakeSheets
let shown = new URL('http://none')
let waits: number[] = []
let now = Date.parse('2026-03-01T12:00:00.000Z')
let pages = 0

const platform = 'https://platform.example'

/** Another platform, whose list of long courses does not end; null for requests to others. */
function platformAnswer(address: string): HttpResponse | null {
  const { origin, pathname } = new URL(address)
  if (origin !== platform) return null
  const headers = { 'content-type': 'application/json' }
  if (pathname !== '/v1/courses') return { status: 404, headers, body: '{}' }
  pages += 1
  const row = { id: `crs_${pages}`, title: 'Tides', description: 'x'.repeat(40_000) }
  const data = Array.from({ length: 100 }, () => row)
  return { status: 200, headers, body: JSON.stringify({ data, nextCursor: `page${pages}` }) }
}

/** A person who allows access: the browser follows the redirect to the program. */
const test = base.extend('options', {
  transport: async (request) => platformAnswer(request.url) ?? transportToGoogle(fake)(request),
  openBrowser: async (address: string) => {
    shown = new URL(address)
    const back = new URL(shown.searchParams.get('redirect_uri') ?? '')
    const state = shown.searchParams.get('state') ?? ''
    const query = { state, iss: 'https://accounts.google.com', code: '4/a-code' }
    for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value)
    void fetch(back).then((response) => response.text())
  },
  // Five minutes are longer than any test: the wait ends when the program cancels it.
  sleep: async (ms, signal) => {
    if (ms >= 300_000) await new Promise((_, reject) => signal?.addEventListener('abort', reject))
    else waits.push(ms)
  },
  now: () => now,
  env: { DISPLAY: ':0' },
} as TestCliOptions)

const secret = { stdin: sheetsClient.secret }
const signInLine = `auth google --client-id ${sheetsClient.id} --client-secret-stdin`
const again = `learnctl auth google --client-id ${sheetsClient.id} --client-secret-stdin < secret.txt`
const line = `users export --columns externalId,email,firstName,status --to-sheet ${spreadsheetId}#People`

function open(): void {
  fake = createFakeSheets()
  waits = []
  now = Date.parse('2026-03-01T12:00:00.000Z')
}

async function signedIn(cli: TestCli): Promise<void> {
  open()
  expect(await cli.run(signInLine, secret)).toMatchObject({ code: 0 })
  const create = 'users create --email ada@school.example --first-name =1+1 --last-name Lovelace'
  expect(await cli.run(`${create} --role learner --external-id 00123`)).toMatchObject({ code: 0 })
}

const posts = () => fake.requests.filter(({ method }) => method === 'POST').length

function fails(fault: Omit<SheetsFault, 'times'>, times = 1): void {
  fake.faults.push({ times, ...fault })
}

describe('auth google', () => {
  test('asks for access to spreadsheets alone, and stores tokens privately', async ({ local }) => {
    open()
    const ran = await local.run(signInLine, secret)
    const path = join(local.config, 'google', 'profiles.json')
    expect(ran.stderr).toContain(`Signed in to Google Sheets; the tokens are in ${path}\n`)
    expect(ran.code).toBe(0)
    expect(shown.searchParams.get('scope')).toBe('https://www.googleapis.com/auth/spreadsheets')
    expect(shown.searchParams.get('code_challenge_method')).toBe('S256')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(fake.grants[0]?.get('client_secret')).toBe(sheetsClient.secret)
    expect(JSON.stringify(ran)).not.toContain(sheetsClient.refreshToken)
    expect((await local.run('profiles list -o json')).stdout).not.toContain('google')
  })

  test('refuses a grant without the scope', async ({ local }) => {
    open()
    fake.scopes = 'openid'
    const { code, stderr } = await local.run(signInLine, secret)
    expect(code).toBe(4)
    expect(stderr).toContain('Google did not grant access to spreadsheets')
    expect((await local.run(line)).stderr).toContain('Not signed in to Google Sheets')
  })

  test('revokes the access and removes the tokens', async ({ local }) => {
    await signedIn(local)
    expect(await local.run('auth google --sign-out')).toMatchObject({
      code: 0,
      stderr: 'Signed out of Google Sheets\n',
    })
    expect(fake.revoked).toContain(sheetsClient.refreshToken)
    expect((await local.run(line)).code).toBe(4)
    expect((await local.run('auth google --sign-out')).stderr).toBe('Not signed in to Google Sheets\n')
  })
})

test('a cell holds up to 50,000 characters, and an id is text even as a number', () => {
  const encoder = sheetRows([
    { label: 'id', path: 'user.id' },
    { label: 'note', path: 'note' },
  ])
  const rows = encoder.rows([{ user: { id: 7 }, note: 'x'.repeat(50_000) }])
  expect(rows).toContain('{"values":[{"userEnteredValue":{"stringValue":"7"}},')
  expect(() => encoder.rows([{ note: 'x'.repeat(50_001) }])).toThrow('note of row 2 is too long for a cell')
})

describe('--to-sheet', () => {
  test('adds the tab, with ids as text and without formulas', async ({ local }) => {
    await signedIn(local)
    expect(await local.run(line)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Exported 2 rows to tab "People" of "Spring report"\n',
    })
    const table = fake.table('People')
    expect(table[0]).toEqual(['externalId', 'email', 'firstName', 'status'])
    expect(table).toContainEqual(['00123', 'ada@school.example', '=1+1', expect.any(String)])
    expect(fake.table('Notes')).toEqual([['keep me']])
    expect(posts()).toBe(1)
  })

  test('replaces the whole tab at once, and keeps numbers', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    await local.run('courses create --title Biology --external-id 007 --passing-score 65')
    const notes = fake.tabs[0]
    notes?.cells.set('900:20', 'old')
    const url = `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit?gid=0#gid=0`
    const ran = await local.run([
      ...'courses export --columns externalId,title,passingScore --to-sheet'.split(' '),
      url,
    ])
    expect(ran).toMatchObject({ code: 0, stderr: 'Exported 1 row to tab "Notes" of "Spring report"\n' })
    expect(fake.table('Notes')).toEqual([
      ['externalId', 'title', 'passingScore'],
      ['007', 'Biology', 65],
    ])
    expect(fake.tabs[0]).toMatchObject({ rows: 1000, columns: 26 })
  })

  test('waits for the quota, and finds a tab already added', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    fails({ method: 'POST', answer: 429, message: 'Quota exceeded', headers: { 'retry-after': '30' } })
    fails({ method: 'POST', answer: 'lost' })
    const { code, stderr } = await local.run(line)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toContain('note: The quota of Google Sheets is used up; trying again in 30 s\n')
    expect(waits[0]).toBe(30_000)
    expect(fake.tabs.filter(({ title }) => title === 'People')).toHaveLength(1)
    expect(fake.table('People')).toHaveLength(3)
  })

  test('refreshes an access token that expired or is refused', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    fake.revokeTokens()
    expect(await local.run(line)).toMatchObject({ code: 0 })
    now += 3_600_000
    expect(await local.run(line)).toMatchObject({ code: 0 })
    expect(fake.grants.map((form) => form.get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
      'refresh_token',
    ])
  })

  test('names the command to sign in once the grant has ended', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    now += 3_600_000
    fake.refusesGrants = 'invalid_grant'
    const { code, stderr } = await local.run(line)
    expect(code).toBe(4)
    expect(stderr).toContain('The session at https://accounts.google.com has ended')
    expect(stderr).toContain(`hint: Sign in again: ${again}`)
    expect(stderr).not.toContain(sheetsClient.secret)
  })

  const refusals: [what: string, fault: Omit<SheetsFault, 'times'>, code: number, text: string][] = [
    [
      'a spreadsheet that is not shared',
      { method: 'GET', answer: 403 },
      5,
      'Share it as Editor with the account',
    ],
    ['one that may only be read', { method: 'POST', answer: 403 }, 5, `Permission denied for spreadsheet`],
    [
      'an API that is not enabled',
      { method: 'GET', answer: 403, reason: 'SERVICE_DISABLED' },
      5,
      'The Google Sheets API is not enabled in the project of your OAuth client',
    ],
    ['a missing scope', { method: 'GET', answer: 403, reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }, 5, again],
    ['an unknown spreadsheet', { method: 'GET', answer: 404 }, 3, 'Spreadsheet not found: '],
    ['an Excel file', { method: 'POST', answer: 400 }, 2, 'not an Excel file'],
    ['an ended quota', { method: 'POST', answer: 429 }, 7, 'The quota of Google Sheets is used up'],
    ['an internal error', { method: 'POST', answer: 500 }, 1, 'Google Sheets failed (status 500)'],
    ['a login page', { method: 'POST', answer: 'page' }, 1, 'It is not JSON'],
    [
      'a response without replies',
      { method: 'POST', answer: 'empty' },
      1,
      'It does not say that the cells were written',
    ],
  ]
  test.for(refusals)('reports %s and writes nothing', async ([, fault, expected, text], { local }) => {
    await signedIn(local)
    fails(fault, 100)
    const { code, stderr } = await local.run(line)
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(text) })
    expect(fake.table('People')).toEqual([])
    expect(stderr).not.toContain('Exported')
    expect(stderr).not.toContain('ya29.')
  })

  test('writes the rows it would print, and how to get all', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    const list = `users list --sort email --columns email,firstName --to-sheet ${spreadsheetId}`
    expect(await local.run(`${list} --limit 1`)).toMatchObject({
      code: 0,
      stdout: '',
      stderr:
        'Exported 1 row to tab "users" of "Spring report"\nnote: Exported the first 1; use --all for the rest\n',
    })
    expect(fake.table('users')).toEqual([
      ['email', 'firstName'],
      ['ada@school.example', '=1+1'],
    ])
    expect(await local.run(`${list}#All --all`)).toMatchObject({ code: 0 })
    expect(fake.table('All')).toHaveLength(3)
    expect(await local.run(`groups members list none --to-sheet ${spreadsheetId}#Class`)).toMatchObject({
      code: 3,
    })
    expect(fake.tabs.map(({ title }) => title)).not.toContain('Class')
    expect(await local.run(`terms list --to-sheet ${spreadsheetId}`)).toMatchObject({ code: 0 })
    expect(fake.table('terms')[0]).toContain('externalId')
  })

  test('refuses a table too large for one request, unread', { tags: ['slow'] }, async ({ local }) => {
    await signedIn(local)
    pages = 0
    const list = `courses list --all --url ${platform} --to-sheet ${spreadsheetId}`
    const { code, stderr } = await local.run(list, { env: { LEARNCTL_API_KEY: 'lck_key' } })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'The table is larger than 32 MiB, and a tab is replaced in one request',
      ),
    })
    expect(pages).toBeLessThan(20)
    expect(posts()).toBe(0)
  })

  test('is refused where the result is no table', async ({ local }) => {
    for (const command of [
      'analytics statements',
      'analytics summary',
      'roster export x.zip --format canvas',
    ]) {
      const { code, stderr } = await local.run(`${command} --to-sheet ${spreadsheetId}`)
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^error: --to-sheet is not supported by `learnctl .+`\n {2}\S/),
      })
    }
  })

  test('cannot be combined with files, formats and other places', async ({ local }) => {
    open()
    for (const flags of ['-q', '-o csv', '--delimiter ;']) {
      const { code, stderr } = await local.run(`users list --to-sheet ${spreadsheetId} ${flags}`)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/cannot be used together/) })
    }
    for (const flags of ['--file x.csv', '-o json', '--format csv', '--raw', '--delimiter ;', '--force']) {
      const { code, stderr } = await local.run(`${line} ${flags}`)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/cannot be used together/) })
    }
    expect((await local.run('users export --to-sheet https://example.org/x')).stderr).toContain(
      'names no spreadsheet',
    )
    expect(fake.requests).toEqual([])
  })
})
