import { expect } from 'vitest'
import { minute, test } from '../../helpers/academy.ts'
import { openFlow, register } from '../oauth/flow.ts'
import { gradebook, makeSchool, rostering } from './one-roster.ts'

// The requests of Google's conformance tests for OneRoster 1.2, in their order, with what they check:
// googleworkspace/oneroster-integration-conformance-tests@3550c21, oneroster_1_2_test_suite.ipynb.

const scope = ['roster.readonly', 'gradebook.readonly', 'gradebook.createput', 'gradebook.delete']
  .map((name) => `https://purl.imsglobal.org/spec/or/v1p2/scope/${name}`)
  .join(' ')

test('passes the conformance tests of Google', async ({ academy, admin, clock }) => {
  await makeSchool(admin)

  // Authorization
  const app = await register(academy, {
    redirectUris: [],
    machineScopes: ['roster.readonly', 'gradebook.readonly', 'gradebook.createput', 'gradebook.delete'],
  })
  const basic = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')
  const granted = await openFlow(academy).send(
    '/oauth/token',
    { grant_type: 'client_credentials', scope },
    { authorization: `Basic ${basic}` },
  )
  expect(granted).toMatchObject({ status: 200, body: { scope } })
  const google = academy.bearer(`Bearer ${granted.body.access_token}`)
  const many = 'limit=10000'

  // GetAllTeachers, GetAllTeachers with email filter
  expect((await google.get(`${rostering}/teachers?limit=1`)).status).toBe(200)
  const teachers = await google.get(`${rostering}/teachers?filter=email='bob@b.example'&${many}`)
  expect(teachers.status).toBe(200)
  expect(teachers.body.users).toEqual([expect.objectContaining({ email: 'bob@b.example', sourcedId: 'u2' })])
  const teacherId = teachers.body.users[0].sourcedId

  // GetClassesForTeacher
  const classes = await google.get(
    `${rostering}/teachers/${teacherId}/classes?${many}&filter=status='active'`,
  )
  expect(classes.status).toBe(200)
  const [first] = classes.body.classes
  const classId = first.sourcedId
  const schoolId = first.school.sourcedId
  const termId = first.terms[0].sourcedId

  // GetStudentsForClass
  const students = await google.get(`${rostering}/classes/${classId}/students?${many}`)
  expect(students.status).toBe(200)
  expect(students.body.users[0]).toMatchObject({ email: expect.any(String), sourcedId: expect.any(String) })
  const studentId = students.body.users[0].sourcedId

  // GetCategoriesForClass
  const categories = await google.get(`${gradebook}/classes/${classId}/categories?${many}`)
  expect(categories.status).toBe(200)
  const categoryId = categories.body.categories[0].sourcedId

  // GetGradingPeriodsForTerm
  const periods = await google.get(`${rostering}/terms/${termId}/gradingPeriods?${many}`)
  expect(periods.status).toBe(200)
  expect(Object.keys(periods.body.academicSessions[0])).toEqual(
    expect.arrayContaining(['sourcedId', 'title', 'startDate', 'endDate', 'schoolYear']),
  )
  for (const { type } of periods.body.academicSessions) expect(type).toBe('gradingPeriod')

  // LineItem: create, get, edit, get (assignment title limit)
  const lineItemId = '1f0c9a52-6c55-4f0b-9d29-0a1b2c3d4e5f'
  const assignDate = clock.now().toISOString()
  const lineItem = {
    sourcedId: lineItemId,
    title: 'New test item',
    description: 'Test Line Item',
    ...{ resultValueMin: 0, resultValueMax: 100, assignDate },
    dueDate: new Date(clock.now().getTime() + minute).toISOString(),
    class: { sourcedId: classId },
    category: { sourcedId: categoryId },
    school: { sourcedId: schoolId },
  }
  const made = await google.put(`${gradebook}/lineItems/${lineItemId}`, { lineItem })
  expect(made.status, made.text).toBe(201)
  const lineItems = async () =>
    (await google.get(`${gradebook}/classes/${classId}/lineItems?${many}`)).body.lineItems
  expect(await lineItems()).toContainEqual(expect.objectContaining({ sourcedId: lineItemId }))
  const title = `[Amended] Rea${'l'.repeat(67)}y Long Google Test Line Item Title`
  const edited = await google.put(`${gradebook}/lineItems/${lineItemId}`, {
    lineItem: { ...lineItem, title },
  })
  expect(edited.status).toBe(200)
  expect(await lineItems()).toContainEqual(expect.objectContaining({ sourcedId: lineItemId, title }))

  // Result: create, get, edit, get (extra credit), edit, get (exempt)
  const resultId = '7b1e2d3c-4f5a-4b6c-8d7e-9f0a1b2c3d4e'
  const result = {
    sourcedId: resultId,
    ...{ score: 80, comment: '', scoreStatus: 'fully graded', scoreDate: assignDate },
    lineItem: { sourcedId: lineItemId },
    student: { sourcedId: studentId },
  }
  const put = async (changes: object) =>
    google.put(`${gradebook}/results/${resultId}`, { result: { ...result, ...changes } })
  const shown = async () => {
    const path = `${gradebook}/classes/${classId}/lineItems/${lineItemId}/results?${many}`
    const { status, body } = await google.get(path)
    expect(status).toBe(200)
    return body.results.find(({ sourcedId }: { sourcedId: string }) => sourcedId === resultId)
  }
  const first201 = await put({})
  expect(first201.status, first201.text).toBe(201)
  expect(await shown()).toMatchObject({ score: 80, scoreStatus: 'fully graded' })
  expect((await put({ score: 300 })).status).toBe(200)
  expect(await shown()).toMatchObject({ score: 300 })
  expect((await put({ scoreStatus: 'exempt' })).status).toBe(200)
  expect(await shown()).toMatchObject({ scoreStatus: 'exempt' })

  // Delete, get (deleted); LineItem: delete, get (deleted)
  expect((await google.delete(`${gradebook}/results/${resultId}`)).status).toBe(204)
  expect(await shown()).toBeUndefined()
  expect((await google.delete(`${gradebook}/lineItems/${lineItemId}`)).status).toBe(204)
  expect(await lineItems()).not.toContainEqual(expect.objectContaining({ sourcedId: lineItemId }))
})
