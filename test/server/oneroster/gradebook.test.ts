import { describe, expect } from 'vitest'
import { type Caller, minute, type Person } from '../../helpers/academy.ts'
import { expectRecord, expectRecords, gradebook, openClient, test, valuesOf } from './one-roster.ts'

const ids = (values: unknown[]) => values.map(String).sort()
const uuid = '1f0c9a52-6c55-4f0b-9d29-0a1b2c3d4e5f'
const other = '7b1e2d3c-4f5a-4b6c-8d7e-9f0a1b2c3d4e'

function grade(admin: Person, itemId: string, scoreGiven: number | null, more: object = {}) {
  return admin.put('/v1/grades', {
    ...{ courseId: 'ext:BIO', learnerId: 'ext:u1', itemId, scoreGiven },
    ...more,
  })
}

function putItem(client: Caller, id: string, more: object = {}) {
  const lineItem = { title: 'Poster', class: { sourcedId: 'BIO' }, resultValueMax: 20, ...more }
  return client.put(`${gradebook}/lineItems/${encodeURIComponent(id)}`, { lineItem })
}

function putResult(client: Caller, id: string, more: object = {}) {
  const result = {
    ...{
      lineItem: { sourcedId: uuid },
      student: { sourcedId: 'u1' },
      score: 15,
      scoreStatus: 'fully graded',
    },
    ...{ scoreDate: '2026-02-01', ...more },
  }
  return client.put(`${gradebook}/results/${encodeURIComponent(id)}`, { result })
}

describe('each list', () => {
  test('has line items of grades and weights, their categories and results', { tags: ['slow'] }, async ({
    admin,
    client,
  }) => {
    await grade(admin, 'exam-1', 17, { label: 'Exam', scoreMaximum: 20 })
    await grade(admin, 'exam-1', 8, { learnerId: 'ext:u3', scoreMaximum: 10 })
    await grade(admin, 'draft', 5, { published: false })
    await grade(admin, '$course', 90)
    for (const path of ['/lineItems', '/classes/BIO/lineItems', '/schools/localhost/lineItems']) {
      const answer = await client.get(`${gradebook}${path}`)
      expectRecords(answer, 'lineItems')
      expect(ids(valuesOf(answer, 'lineItems')), path).toEqual(['BIO:$course', 'BIO:Essay', 'BIO:exam-1'])
    }
    const { lineItem } = (await client.get(`${gradebook}/lineItems/BIO:exam-1`)).body
    expect(lineItem).toMatchObject({
      title: 'Exam',
      category: { sourcedId: 'BIO:Exam' },
      assignDate: expect.any(String),
    })
    for (const path of ['/categories', '/classes/BIO/categories']) {
      const answer = await client.get(`${gradebook}${path}`)
      expectRecords(answer, 'categories')
      expect(answer.body.categories).toMatchObject([
        { sourcedId: 'no-category', title: 'Grades' },
        { sourcedId: 'BIO:Essay', title: 'Essay', weight: 40 },
        { sourcedId: 'BIO:Exam', title: 'Exam', weight: 60 },
      ])
    }
    expect((await client.get(`${gradebook}/categories/BIO:Exam`)).body.category).toMatchObject({ weight: 60 })
    for (const [path, found] of [
      ['/results', ['BIO:$course:u1', 'BIO:exam-1:u1', 'BIO:exam-1:u3']],
      ['/classes/BIO/results', ['BIO:$course:u1', 'BIO:exam-1:u1', 'BIO:exam-1:u3']],
      ['/classes/BIO/lineItems/BIO:exam-1/results', ['BIO:exam-1:u1', 'BIO:exam-1:u3']],
      ['/classes/BIO/students/u3/results', ['BIO:exam-1:u3']],
      ['/classes/ART/results', []],
    ] as const) {
      const answer = await client.get(`${gradebook}${path}`)
      expectRecords(answer, 'results')
      expect(ids(valuesOf(answer, 'results')), path).toEqual(found)
      expect(answer.headers.get('x-total-count')).toBe(String(found.length))
    }
    expectRecords(await client.get(`${gradebook}/scoreScales`), 'scoreScales')
    const older = await client.get('/ims/oneroster/v1p1/lineItems')
    expect(older.body.lineItems[0]).toMatchObject({
      assignDate: '2025-09-01',
      gradingPeriod: { sourcedId: 'T1', type: 'academicSession' },
    })
  })

  test('has one score of each learner and item, with the maximum of the item', { tags: ['slow'] }, async ({
    admin,
    client,
    clock,
  }) => {
    await grade(admin, 'exam', 8, { scoreMaximum: 10, gradedAt: '2026-01-01T00:00:00Z' })
    clock.advance(minute)
    await grade(admin, 'exam', 30, { scoreMaximum: 40, source: 'moodle', gradedAt: '2026-01-02T00:00:00Z' })
    const { results } = (await client.get(`${gradebook}/results`)).body
    expect(results).toMatchObject([{ sourcedId: 'BIO:exam:u1', score: 30, scoreDate: '2026-01-02' }])
    clock.advance(minute)
    await grade(admin, 'exam', 5, { learnerId: 'ext:u3', scoreMaximum: 20 })
    expect((await client.get(`${gradebook}/results/BIO:exam:u1`)).body.result.score).toBe(15)
  })
})

describe('each response', () => {
  test('of the gradebook is as 1EdTech describes it, also of records that a client made', {
    tags: ['slow'],
  }, async ({ admin, client }) => {
    await grade(admin, 'exam-1', 17, { label: 'Exam', scoreMaximum: 20 })
    await grade(admin, 'exam-2', null)
    await putItem(client, uuid, { description: 'On paper' })
    await putResult(client, other, { comment: 'Well done' })
    await putResult(client, 'exempt-1', { student: { sourcedId: 'u3' }, scoreStatus: 'exempt' })
    const lists = { categories: 'category', lineItems: 'lineItem', results: 'result' }
    for (const [plural, singular] of Object.entries(lists)) {
      for (const path of [`/${plural}`, `/classes/BIO/${plural}`]) {
        const answer = await client.get(`${gradebook}${path}`)
        expectRecords(answer, plural)
        expect(answer.body[plural].length).toBeGreaterThan(1)
        for (const id of valuesOf(answer, plural)) {
          const one = await client.get(`${gradebook}/${plural}/${encodeURIComponent(String(id))}`)
          expectRecord(one, singular, plural)
        }
      }
    }
    expectRecords(await client.get(`${gradebook}/classes/BIO/lineItems/${uuid}/results`), 'results')
    expectRecords(await client.get(`${gradebook}/classes/BIO/students/u1/results`), 'results')
    for (const plural of ['scoreScales', 'classes/BIO/scoreScales', 'schools/localhost/scoreScales']) {
      expectRecords(await client.get(`${gradebook}/${plural}`), 'scoreScales')
    }
  })

  test('to a request that is not offered says so as 1EdTech describes it', async ({ client }) => {
    for (const path of ['/assessmentLineItems', '/assessmentResults/1']) {
      expect((await client.get(`${gradebook}${path}`)).status, path).toBe(404)
    }
    for (const path of [
      '/classes/BIO/lineItems',
      '/schools/localhost/lineItems',
      `/lineItems/${uuid}/results`,
    ]) {
      expect([404, 405], path).toContain((await client.post(`${gradebook}${path}`, {})).status)
    }
  })
})

describe('a line item', () => {
  test('is created, changed and deleted under the id that the client gives', { tags: ['slow'] }, async ({
    admin,
    client,
  }) => {
    expect((await putItem(client, uuid)).status).toBe(201)
    expect((await putItem(client, uuid, { title: 'Big poster' })).status).toBe(200)
    const { lineItem } = (await client.get(`${gradebook}/lineItems/${uuid}`)).body
    expect(lineItem).toMatchObject({ title: 'Big poster', resultValueMax: 20, class: { sourcedId: 'BIO' } })
    expect((await client.delete(`${gradebook}/lineItems/${uuid}`)).status).toBe(204)
    expect((await client.get(`${gradebook}/lineItems/${uuid}`)).status).toBe(404)
    expect((await client.delete(`${gradebook}/lineItems/${uuid}`)).status).toBe(404)
    const { data } = (
      await admin.get('/v1/audit?sort=at&action=line_item.created,line_item.updated,line_item.deleted')
    ).body
    expect(data).toMatchObject([
      { action: 'line_item.created', userId: null, credential: client.clientId, subjectId: uuid },
      { action: 'line_item.updated', credential: client.clientId },
      { action: 'line_item.deleted', credential: client.clientId },
    ])
  })

  test('with results is not deleted, nor is one that is a weight', async ({ client }) => {
    await putItem(client, uuid)
    await putResult(client, other)
    expect(await client.delete(`${gradebook}/lineItems/${uuid}`)).toMatchObject({ status: 409 })
    expect(await client.delete(`${gradebook}/lineItems/BIO:Essay`)).toMatchObject({ status: 403 })
  })

  test.for([
    [{ class: { sourcedId: 'NONE' } }, 404],
    [{ title: '' }, 422],
    [{ resultValueMax: 0 }, 422],
    [{ sourcedId: 'another' }, 422],
    [{ assignDate: 'soon' }, 422],
  ] as const)('is refused with %j', async ([changes, status], { client }) => {
    expect(await putItem(client, uuid, changes)).toMatchObject({
      status,
      body: { imsx_codeMajor: 'failure', imsx_severity: 'error' },
    })
  })

  test('stays in its class, and goes to the trash with it and back', { tags: ['slow'] }, async ({
    admin,
    client,
  }) => {
    await putItem(client, uuid)
    await putResult(client, other)
    expect(await putItem(client, uuid, { class: { sourcedId: 'ART' } })).toMatchObject({ status: 422 })
    const { data } = (await admin.get('/v1/courses?external_id=BIO')).body
    const courseId = data[0]?.id ?? (await admin.get('/v1/courses/ext:BIO')).body.id
    expect((await admin.delete(`/v1/courses/${courseId}?force=true`)).status).toBe(204)
    expect((await client.get(`${gradebook}/lineItems/${uuid}`)).status).toBe(404)
    expect((await admin.post(`/v1/deleted-courses/${courseId}/restore`)).status).toBeLessThan(300)
    expect((await client.get(`${gradebook}/lineItems/${uuid}`)).body.lineItem).toMatchObject({
      title: 'Poster',
    })
    expect((await client.get(`${gradebook}/results/${other}`)).body.result).toMatchObject({ score: 15 })
  })
})

describe('a result', () => {
  test('is a grade of the learner, in the audit log as one of the application', async ({ admin, client }) => {
    await putItem(client, uuid)
    expect((await putResult(client, other)).status).toBe(201)
    const { data } = (await admin.get('/v1/grades?course_id=ext:BIO')).body
    expect(data).toMatchObject([
      {
        userExternalId: 'u1',
        itemId: uuid,
        source: 'oneroster',
        label: 'Poster',
        scoreGiven: 15,
        scoreMaximum: 20,
      },
    ])
    const { data: entries } = (await admin.get('/v1/audit?action=grade.updated')).body
    expect(entries).toMatchObject([{ userId: null, credential: client.clientId }])
    expect((await client.get(`${gradebook}/results/${other}`)).body.result).toMatchObject({
      ...{ sourcedId: other, score: 15, scoreStatus: 'fully graded', scoreDate: '2026-02-01' },
      ...{ lineItem: { sourcedId: uuid }, student: { sourcedId: 'u1' } },
    })
  })

  test('that is partially graded is no published grade, one that is exempt no grade', async ({
    admin,
    client,
  }) => {
    await putItem(client, uuid)
    await putResult(client, other, { scoreStatus: 'partially graded' })
    const grades = async () => (await admin.get('/v1/grades?course_id=ext:BIO')).body.data
    expect(await grades()).toMatchObject([{ scoreGiven: 15, published: false }])
    expect((await putResult(client, other, { scoreStatus: 'exempt', comment: 'ill' })).status).toBe(200)
    expect(await grades()).toMatchObject([{ scoreGiven: null }])
    expect((await client.get(`${gradebook}/results/${other}`)).body.result).toMatchObject({
      ...{ scoreStatus: 'exempt', score: 15, comment: 'ill' },
    })
  })

  test('of an erased user loses its comment and its id, also in the trash', async ({
    academy,
    admin,
    client,
  }) => {
    const { raw } = await import('sql-template-tag')
    const stored = async () => {
      const tables = ['results', 'deleted_results']
      const rows = await Promise.all(
        tables.map((table) => academy.database.all(raw(`select * from ${table}`))),
      )
      return rows.map((each) => each.length)
    }
    await putItem(client, uuid)
    await putResult(client, 'ada-poster', { comment: 'Ada was ill' })
    await putResult(client, 'cy-poster', { student: { sourcedId: 'u3' } })
    await putItem(client, 'old-item', { class: { sourcedId: 'OLD' } })
    await putResult(client, 'ada-old', { lineItem: { sourcedId: 'old-item' }, comment: 'Ada again' })
    await admin.delete('/v1/courses/ext:OLD?force=true')
    expect(await stored()).toEqual([2, 1])
    expect((await admin.delete('/v1/users/ext:u1?erase=true')).status).toBe(204)
    expect(await stored()).toEqual([1, 0])
    const { text } = await client.get(`${gradebook}/results`)
    expect(text).toContain('cy-poster')
    expect(text).not.toMatch(/ada/i)
  })

  test('is what the academy has graded since', async ({ admin, client }) => {
    await putItem(client, uuid)
    await putResult(client, other, { scoreStatus: 'exempt' })
    await grade(admin, uuid, 20, { scoreMaximum: 20 })
    expect((await client.get(`${gradebook}/results/${other}`)).body.result).toMatchObject({
      ...{ scoreStatus: 'fully graded', score: 20 },
    })
    await grade(admin, uuid, null)
    await putResult(client, other)
    expect((await client.get(`${gradebook}/results/${other}`)).body.result).toMatchObject({ score: 15 })
  })

  test('of the academy is changed under the id that lists show', async ({ admin, client }) => {
    await grade(admin, 'exam-1', 17, { source: 'moodle', scoreMaximum: 20, gradedAt: '2026-01-02T00:00:00Z' })
    const lineItem = { sourcedId: 'BIO:exam-1' }
    expect((await putResult(client, 'BIO:exam-1:u1', { lineItem, score: 19 })).status).toBe(200)
    expect((await admin.get('/v1/grades')).body.data).toMatchObject([{ source: 'moodle', scoreGiven: 19 }])
    expect((await client.delete(`${gradebook}/results/BIO:exam-1:u1`)).status).toBe(204)
    expect((await admin.get('/v1/grades')).body.data).toEqual([])
  })

  test.for([
    [{ lineItem: { sourcedId: 'none' } }, 404],
    [{ student: { sourcedId: 'none' } }, 404],
    [{ student: { sourcedId: 'u4' } }, 409],
    [{ scoreStatus: 'lost' }, 422],
    [{ score: -1 }, 422],
    [{ score: 1_000_000 }, 422],
  ] as const)('is refused with %j', async ([changes, status], { client }) => {
    await putItem(client, uuid)
    const answer = await putResult(client, other, changes)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.body).toMatchObject({ imsx_codeMajor: 'failure' })
  })
})

test('writes need their scopes, and what belongs to the academy is not written', async ({
  academy,
  client,
}) => {
  const reader = await openClient(academy, ['gradebook.readonly'])
  expect((await putItem(reader, uuid)).status).toBe(403)
  expect((await reader.delete(`${gradebook}/lineItems/${uuid}`)).status).toBe(403)
  expect((await reader.get(`${gradebook}/lineItems`)).status).toBe(200)
  expect((await client.put(`${gradebook}/categories/c1`, { category: { title: 'C' } })).status).toBe(403)
  expect((await client.delete(`${gradebook}/scoreScales/s1`)).status).toBe(403)
})
