import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import { removeGuard } from '../../../src/codec/csv.ts'
import { type Person, type TestAcademy, test } from '../../helpers/academy.ts'

const path = '/v1/analytics/learners'

const header =
  'learnerId,email,firstName,lastName,externalId,courseId,courseTitle,difficulty,enrollmentStatus,enrolledAt,' +
  'progressStatus,completionPercentage,startedAt,lastAccessed,completedAt,gradePercent,passed,gradeUpdatedAt,courseExternalId'

const hostile = [
  'plain',
  'comma, "quote" and \'apostrophe\'',
  'line\nfeed, return\r\nand both',
  '=HYPERLINK("http://evil.test","x")',
  '+1',
  '-1+1',
  '@SUM(A1)',
  '\ttab first',
  '＝1＋1',
  '－1',
  "'already quoted",
  "'=guarded by hand",
  "''=twice",
  '👩🏽‍🚀 Łódź \u202eright to left\u202c',
  '","',
  '"',
  '0012',
  'null',
  ' blank around ',
]

/** A learner for each hostile text, in a course with such a title. */
async function hostileSchool(academy: TestAcademy, admin: Person): Promise<void> {
  const course = { title: '=1+1"\n,\u001e%1E\u001f%', externalId: '=A,%2C"\u001e%1F\u001f,' }
  const courseId = (await admin.post('/v1/courses', course)).body.id
  for (const [index, text] of hostile.entries()) {
    const email = `learner-${String(index).padStart(2, '0')}@b.example`
    const user = await admin.post('/v1/users', {
      email,
      externalId: text,
      profile: { firstName: text, lastName: text },
    })
    expect(user.status).toBe(201)
    const record = { courseId, completionPercentage: index / 3 }
    await admin.put(`/v1/learners/${user.body.id}/progress`, record)
  }
  const [{ learnerId }] = (await admin.get(path)).body.data
  await academy.grade({ learnerId, courseId, scoreGiven: 33.3 })
}

type Row = Record<string, string | number | boolean | null>

const cells = (row: Row) => Object.values(row).map((value) => (value === null ? '' : String(value)))
const read = (text: string): string[][] => parse(text)

test('CSV, NDJSON and JSON have the same rows, cell by cell, whatever is in them', {
  tags: ['slow'],
}, async ({ academy, admin }) => {
  await hostileSchool(academy, admin)
  const rows: Row[] = (await admin.get(`${path}?limit=100`)).body.data
  expect(rows).toHaveLength(hostile.length)
  expect(rows.map((row) => row['externalId'])).toEqual(hostile)

  const ndjson = await admin.get(`${path}?format=ndjson`)
  expect(ndjson.text.endsWith('\n')).toBe(true)
  expect(
    ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(rows)

  const raw = await admin.get(`${path}?format=csv&raw=true`)
  expect(read(raw.text)).toEqual([header.split(','), ...rows.map(cells)])

  const guarded = await admin.get(`${path}?format=csv`)
  expect(read(guarded.text).map((record) => record.map(removeGuard))).toEqual([
    header.split(','),
    ...rows.map(cells),
  ])
  expect(guarded.text).toContain('"\'=HYPERLINK(')
  expect(guarded.text).not.toMatch(/(^|,|")[=+@＝＋－＠]/m)
})

test('CSV has its columns in the frozen order, CRLF, and no mark before them', async ({ admin }) => {
  const answer = await admin.get(`${path}?format=csv`)
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(`${header}\r\n`)
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
})

test('numbers are plain, times as everywhere, truth values true and false', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  await hostileSchool(academy, admin)
  const [, first = []] = read((await admin.get(`${path}?format=csv`)).text)
  expect(first.slice(9, 18)).toEqual([
    '2026-03-01T12:00:00.000Z',
    'in_progress',
    '0',
    '2026-03-01T12:00:00.000Z',
    '2026-03-01T12:00:00.000Z',
    '',
    '33.3',
    'false',
    '2026-03-01T12:00:00.000Z',
  ])
})

test.for([
  ['', 'learners.csv'],
  ['&start_date=2026-01-01&end_date=2026-01-31', 'learners_2026-01-01_2026-01-31.csv'],
  ['&start_date=2026-01-01T09:00:00Z', 'learners_2026-01-01.csv'],
  ['&end_date=2026-02-01T00:00:00Z', 'learners_2026-01-31.csv'],
  ['&start_date=2026-01-01T00:30:00%2B02:00', 'learners_2025-12-31.csv'],
])('the file of %j is named %s', async ([query, name], { admin }) => {
  const answer = await admin.get(`${path}?format=csv${query}`)
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
})

test.for([
  ['text/csv', '', 'text/csv'],
  ['application/x-ndjson', '', 'application/x-ndjson'],
  ['application/json', '', 'application/json'],
  ['*/*', '', 'application/json'],
  ['text/html, application/xhtml+xml', '', 'application/json'],
  ['application/json, text/csv;q=0.5', '', 'application/json'],
  ['application/json;q=0.5, text/csv', '', 'text/csv'],
  ['text/csv;q=0', '', 'application/json'],
  ['TEXT/CSV', '', 'text/csv'],
  ['text/*', '', 'text/csv'],
  ['text/csv, */*', '', 'text/csv'],
  ['*/*, application/x-ndjson', '', 'application/x-ndjson'],
  ['text/*;q=0.4, */*;q=0.3', '', 'text/csv'],
  ['*/*, application/json;q=0', '', 'text/csv'],
  ['text/*, text/csv;q=0, application/*;q=0.1', '', 'application/json'],
  ['text/csv;Q=0.5;header=present, application/json;q=0.4', '', 'text/csv'],
  [',;=', '', 'application/json'],
  ['text/csv', '?format=json', 'application/json'],
  ['application/json', '?format=csv', 'text/csv'],
])('Accept %s%s is answered in %s', async ([accept = '', query, type = ''], { admin }) => {
  const answer = await admin.get(`${path}${query}`, { accept })
  expect(answer.headers.get('content-type')).toMatch(new RegExp(`^${type.replaceAll(/[/.]/g, '\\$&')}`))
  expect(answer.headers.get('vary')).toBe('Accept')
})

test('an export is one snapshot, whatever happens while it is read', { tags: ['slow'] }, async ({
  academy,
  admin,
}) => {
  const courseId = await addLearners(admin, 600)
  const response = await academy.fetch(
    new Request(`http://localhost${path}?format=csv`, { headers: { authorization: `Bearer ${admin.key}` } }),
  )
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = decoder.decode((await reader?.read())?.value, { stream: true })
  await admin.delete('/v1/users/email:learner-0599@b.example')
  await admin.put('/v1/users/email:learner-0598@b.example', { email: 'zoe@b.example' })
  await admin.delete(`/v1/courses/${courseId}?force=true`)
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    text += decoder.decode(piece.value, { stream: true })
  }
  const emails = read(text).map(([, email]) => email)
  expect(emails).toHaveLength(601)
  expect(emails.slice(-2)).toEqual(['learner-0598@b.example', 'learner-0599@b.example'])
  expect((await admin.get(path)).body.data).toEqual([])
})

async function addLearners(admin: Person, size: number): Promise<string> {
  const courseId = (await admin.post('/v1/courses', { title: 'Logic' })).body.id
  const emails = Array.from(
    { length: size },
    (_, index) => `learner-${String(index).padStart(4, '0')}@b.example`,
  )
  await admin.post('/v1/users/batch', { items: emails.map((email) => ({ email })) })
  const items = emails.map((email) => ({ courseId, learnerId: `email:${email}`, completionPercentage: 50 }))
  await admin.post('/v1/progress/batch', { items })
  return courseId
}
