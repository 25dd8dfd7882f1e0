import { expect } from 'vitest'
import { type Person, start, test } from '../../helpers/academy.ts'

async function courseOf(admin: Person, more: object = {}) {
  return (await admin.post('/v1/courses', { title: 'Logic', status: 'published', ...more })).body
}

async function orders(admin: Person, courseId: string): Promise<Record<string, number>> {
  const { body } = await admin.get(`/v1/lessons?course_id=${courseId}`)
  return Object.fromEntries(
    body.data.map(({ title, order }: { title: string; order: number }) => [title, order]),
  )
}

const quiz = {
  type: 'quiz',
  title: 'Check',
  questions: [
    {
      type: 'single_choice',
      prompt: 'Which?',
      choices: [
        { id: 'a', text: 'This' },
        { id: 'b', text: 'That' },
      ],
      answer: 'b',
    },
    { type: 'numeric', prompt: 'How many?', answer: 42, points: 2 },
  ],
}

test('a lesson needs a course and a title only', async ({ instructor }) => {
  const { id: courseId } = await courseOf(instructor)
  const made = await instructor.post('/v1/lessons', { courseId, title: 'Syllogisms' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/v1/lessons/${made.body.id}`)
  expect(made.body).toEqual({
    id: expect.stringMatching(/^les_/),
    externalId: null,
    courseId,
    courseTitle: 'Logic',
    moduleId: null,
    title: 'Syllogisms',
    description: '',
    order: 1,
    durationMinutes: null,
    dueAt: null,
    status: 'published',
    learningObjectives: [],
    contentBlocks: [],
    assessments: [],
    managedBy: null,
    version: 1,
    createdAt: start,
    updatedAt: start,
  })
  expect((await instructor.get(`/v1/lessons/${made.body.id}`)).body).toEqual(made.body)
})

test('the answer to a question with choices is one of them', async ({ admin }) => {
  const { id: courseId } = await courseOf(admin)
  const choices = [
    { id: 'a', text: 'This' },
    { id: 'b', text: 'That' },
  ]
  const create = (question: object) => {
    const questions = [{ prompt: 'Which?', choices, ...question }]
    return admin.post('/v1/lessons', {
      courseId,
      title: 'L',
      assessments: [{ type: 'quiz', title: 'Q', questions }],
    })
  }
  for (const [question, detail] of [
    [{ type: 'single_choice', answer: 'c' }, 'must be the id of one of its choices: a, b'],
    [{ type: 'single_choice', answer: ['a'] }, 'must be the id of one of its choices: a, b'],
    [
      { type: 'single_choice', answer: 'a', choices: [] },
      'must be the id of one of its choices: there are none',
    ],
    [{ type: 'multiple_choice', answer: ['a', 'c'] }, 'must be ids of its choices: a, b'],
  ] as const) {
    expect(await create(question)).toMatchObject({
      status: 422,
      body: {
        errors: [{ pointer: '#/assessments/0/questions/0/answer', code: 'invalid_choice', detail }],
      },
    })
  }
  for (const [type, answer] of [
    ['single_choice', 'a'],
    ['single_choice', null],
    ['multiple_choice', ['b', 'a']],
    ['short_answer', 'c'],
  ] as const) {
    expect((await create({ type, answer })).status, type).toBe(201)
  }
})

test('blocks, assessments and questions get ids, and keep those they come with', async ({ admin }) => {
  const { id: courseId } = await courseOf(admin)
  const { body: lesson } = await admin.post('/v1/lessons', {
    courseId,
    title: 'One',
    contentBlocks: [
      { type: 'text', body: 'Hello' },
      { id: 'mine', type: 'link', url: 'https://example.org/a' },
    ],
    assessments: [quiz],
  })
  expect(lesson.contentBlocks).toMatchObject([
    { id: expect.stringMatching(/^blk_/) },
    { id: 'mine', body: null },
  ])
  expect(lesson.assessments).toMatchObject([
    {
      id: expect.stringMatching(/^asm_/),
      scoreMaximum: 100,
      questions: [
        { id: expect.stringMatching(/^qst_/), points: 1, answer: 'b' },
        { answer: 42, points: 2 },
      ],
    },
  ])
  expect(Object.keys(lesson.contentBlocks[0])[0]).toBe('id')
  const update = await admin.put(`/v1/lessons/${lesson.id}`, {
    title: 'Two',
    contentBlocks: lesson.contentBlocks,
  })
  expect(update.body).toMatchObject({ title: 'Two', contentBlocks: lesson.contentBlocks, version: 2 })
})

test('written blocks need a body, the others an http address', async ({ admin }) => {
  const { id: courseId } = await courseOf(admin)
  const { body } = await admin.post('/v1/lessons', {
    courseId,
    title: 'One',
    contentBlocks: [
      { type: 'markdown' },
      { type: 'video', body: 'no' },
      { type: 'image', url: 'javascript:alert(1)' },
      { type: 'hologram', url: 'https://example.org' },
    ],
    assessments: [{ ...quiz, scoreMaximum: 0, questions: [{ type: 'essay', prompt: '', answer: { a: 1 } }] }],
  })
  expect(body.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)).toEqual([
    '#/contentBlocks/0/body required',
    '#/contentBlocks/1/url required',
    '#/contentBlocks/2/url invalid_url',
    '#/contentBlocks/3/type invalid_choice',
    '#/assessments/0/scoreMaximum out_of_range',
    '#/assessments/0/questions/0/prompt too_short',
    '#/assessments/0/questions/0/answer invalid_type',
  ])
  expect(body.errors[6].detail).toBe('must be a string, a number, a boolean, null or an array of strings')
})

test('a lesson is appended or put in its place, and shifts those after', async ({ admin }) => {
  const { id: courseId } = await courseOf(admin)
  const make = async (title: string, order?: number) =>
    (await admin.post('/v1/lessons', { courseId, title, ...(order ? { order } : {}) })).body
  await make('A')
  await make('B')
  await make('J', 10)
  expect(await orders(admin, courseId)).toEqual({ A: 1, B: 2, J: 10 })
  await make('K')
  await make('C', 3)
  expect(await orders(admin, courseId)).toEqual({ A: 1, B: 2, C: 3, J: 10, K: 11 })
  const first = await make('Zero', 1)
  expect(first.order).toBe(1)
  expect(await orders(admin, courseId)).toEqual({ Zero: 1, A: 2, B: 3, C: 4, J: 11, K: 12 })
  const moved = await admin.put(`/v1/lessons/${first.id}`, { order: 3 })
  expect(moved.body.order).toBe(3)
  expect(await orders(admin, courseId)).toEqual({ A: 2, Zero: 3, B: 4, C: 5, J: 12, K: 13 })
  expect((await admin.put(`/v1/lessons/${first.id}`, { order: null })).body.order).toBe(14)
})

test('lessons are listed in their order, by course, module, status and external id', async ({ admin }) => {
  const course = await courseOf(admin, { modules: [{ title: 'M' }] })
  const other = await courseOf(admin)
  const moduleId = course.modules[0].id
  await admin.post('/v1/lessons', { courseId: course.id, title: 'B', moduleId })
  await admin.post('/v1/lessons', { courseId: course.id, title: 'A', order: 1, status: 'draft' })
  await admin.post('/v1/lessons', { courseId: other.id, title: 'C', externalId: 'c' })
  const found = async (query: string) => {
    const { body } = await admin.get(`/v1/lessons?${query}`)
    return body.data.map(({ title }: { title: string }) => title)
  }
  expect(await found(`course_id=${course.id}`)).toEqual(['A', 'B'])
  expect(await found(`course_id=${course.id}&sort=-order`)).toEqual(['B', 'A'])
  expect(await found(`module_id=${moduleId}`)).toEqual(['B'])
  expect(await found('status=draft')).toEqual(['A'])
  expect(await found('external_id=c')).toEqual(['C'])
  expect(await admin.get('/v1/lessons?course_id=crs_none')).toMatchObject({
    status: 404,
    body: { errors: [{ parameter: 'course_id', code: 'not_found' }] },
  })
})

test('a lesson stands in a module of its own course; when the module goes, it stays', async ({ admin }) => {
  const course = await courseOf(admin, { modules: [{ title: 'One' }, { title: 'Two' }] })
  const [one, two] = course.modules
  const stranger = (await courseOf(admin, { modules: [{ title: 'Other' }] })).modules[0]
  const lesson = { courseId: course.id, title: 'A', moduleId: one.id }
  expect(await admin.post('/v1/lessons', { ...lesson, moduleId: stranger.id })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '#/moduleId', code: 'unknown_module' }] },
  })
  const { id } = (await admin.post('/v1/lessons', lesson)).body
  const kept = (await admin.post('/v1/lessons', { ...lesson, title: 'B', moduleId: two.id })).body
  await admin.put(`/v1/courses/${course.id}`, { modules: [two] })
  expect((await admin.get(`/v1/lessons/${id}`)).body.moduleId).toBeNull()
  expect((await admin.get(`/v1/lessons/${kept.id}`)).body).toMatchObject({ moduleId: two.id, version: 1 })
})

test('the course of a lesson must be there, by id or by external id', async ({ admin }) => {
  await courseOf(admin, { externalId: 'L1' })
  expect((await admin.post('/v1/lessons', { courseId: 'ext:L1', title: 'A' })).body.courseId).toMatch(/^crs_/)
  expect(await admin.post('/v1/lessons', { courseId: 'ext:L2', title: 'A' })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ pointer: '#/courseId', code: 'not_found' }] },
  })
})

test('a lesson may move to another course, at the end of it or in a place', async ({ admin }) => {
  const from = await courseOf(admin)
  const to = await courseOf(admin)
  await admin.post('/v1/lessons', { courseId: to.id, title: 'There' })
  const lesson = (await admin.post('/v1/lessons', { courseId: from.id, title: 'Mover' })).body
  const moved = await admin.put(`/v1/lessons/${lesson.id}`, { courseId: to.id })
  expect(moved.body).toMatchObject({ courseId: to.id, version: 2 })
  expect(await orders(admin, to.id)).toEqual({ Mover: 1, There: 2 })
  expect(await orders(admin, from.id)).toEqual({})
})

test('learners get questions without answers, others with them', async ({ admin, analyst, learner }) => {
  const { id: courseId } = await courseOf(admin)
  const { body: lesson } = await admin.post('/v1/lessons', { courseId, title: 'A', assessments: [quiz] })
  for (const path of [`/v1/lessons/${lesson.id}`, '/v1/lessons']) {
    const seen = await learner.get(path)
    expect(seen.text).toContain('How many?')
    expect(seen.text).not.toContain('answer')
    expect((await analyst.get(path)).text).toContain('"answer":42')
  }
})

test('learners see published lessons of published courses', async ({ admin, learner }) => {
  const open = await courseOf(admin)
  const shut = await courseOf(admin, { status: 'draft' })
  const make = async (courseId: string, title: string, status: string) =>
    (await admin.post('/v1/lessons', { courseId, title, status })).body.id
  const shown = await make(open.id, 'Shown', 'published')
  const hidden = [
    await make(open.id, 'Draft', 'draft'),
    await make(shut.id, 'In a draft course', 'published'),
  ]
  expect((await learner.get(`/v1/lessons/${shown}`)).status).toBe(200)
  for (const id of hidden) expect((await learner.get(`/v1/lessons/${id}`)).status).toBe(404)
  expect((await learner.get('/v1/lessons?include_total=true')).body).toMatchObject({
    total: 1,
    data: [{ id: shown }],
  })
})

test('a deleted lesson is gone, its place stays empty', async ({ admin }) => {
  const { id: courseId } = await courseOf(admin)
  const { id } = (await admin.post('/v1/lessons', { courseId, title: 'A' })).body
  await admin.post('/v1/lessons', { courseId, title: 'B' })
  expect((await admin.delete(`/v1/lessons/${id}`)).status).toBe(204)
  expect((await admin.get(`/v1/lessons/${id}`)).status).toBe(404)
  expect(await orders(admin, courseId)).toEqual({ B: 2 })
})
