import { expect, test } from 'vitest'
import { StatementMaker, uuidOf } from '../../src/lms/xapi.ts'

const learner = { id: 'usr_1', externalId: 'S-1', email: 'o/hara@school.example' }
const course = { id: 'crs_1', title: 'Logic', language: 'en' }
const at = '2026-01-05T10:00:00.000Z'
const form = { version: '1.0.3', homePage: 'https://academy.example/', actor: 'id' } as const
const maker = new StatementMaker(form)

const progress = (completionPercentage: number, version = 2) =>
  ({
    kind: 'progress',
    record: { learner, course, version, completionPercentage, lastAccessed: at },
  }) as const

const grade = (scoreGiven: number, scoreMaximum = 20, itemId = 'quiz 1/b') =>
  ({
    kind: 'grade',
    record: {
      ...{ learner, course, id: 'grd_1', version: 1, itemId, label: 'Quiz' },
      ...{ scoreGiven, scoreMaximum, gradedAt: at },
    },
  }) as const

test('a UUID of a name is that of RFC 9562', () => {
  const dns = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex')
  expect(uuidOf(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

test('progress is a whole percentage below, and a first record at 0% begins the course', () => {
  expect(maker.statementOf(progress(66.9))).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    actor: { objectType: 'Agent', account: { homePage: 'https://academy.example', name: 'usr_1' } },
    verb: { id: 'http://adlnet.gov/expapi/verbs/progressed', display: { en: 'progressed' } },
    object: {
      objectType: 'Activity',
      id: 'https://academy.example/v1/courses/crs_1',
      definition: { type: 'http://adlnet.gov/expapi/activities/course', name: { en: 'Logic' } },
    },
    result: { extensions: { 'https://w3id.org/xapi/cmi5/result/extensions/progress': 66 } },
    context: { registration: expect.any(String), platform: 'learnctl' },
    timestamp: at,
  })
  const first = maker.statementOf(progress(0, 1))
  expect(first.verb.display).toEqual({ en: 'initialized' })
  expect(first).not.toHaveProperty('result')
  expect(maker.statementOf(progress(0)).verb.display).toEqual({ en: 'progressed' })
})

test('a completion says nothing of progress (cmi5 §9.5.5)', () => {
  const { verb, result } = maker.statementOf({ ...progress(100), kind: 'completion' })
  expect([verb.display, result]).toEqual([{ en: 'completed' }, { completion: true }])
})

test('the score of an item has the course as its parent', () => {
  const { object, result, context } = maker.statementOf(grade(15))
  expect(object).toEqual({
    objectType: 'Activity',
    id: 'https://academy.example/v1/courses/crs_1/items/quiz%201%2Fb',
    definition: { type: 'http://adlnet.gov/expapi/activities/assessment', name: { en: 'Quiz' } },
  })
  expect(result).toEqual({ score: { scaled: 0.75, raw: 15, min: 0, max: 20 } })
  expect(context.contextActivities?.parent).toMatchObject([
    { id: 'https://academy.example/v1/courses/crs_1' },
  ])
  expect(maker.statementOf(grade(15, 20, '$course')).object.id).toBe(
    'https://academy.example/v1/courses/crs_1',
  )
})

test('extra credit has no maximum, because a score must not exceed it', () => {
  expect(maker.statementOf(grade(22)).result).toEqual({ score: { scaled: 1, raw: 22, min: 0 } })
})

test('the grade of the course passes or fails', () => {
  const of = (percent: number, passed: boolean) => {
    const { verb, result } = maker.statementOf({
      kind: 'courseGrade',
      record: { learner, course, percent, passed, updatedAt: at },
    })
    return [verb.display['en'], result?.success, result?.score?.scaled]
  }
  expect([of(81, true), of(20, false)]).toEqual([
    ['passed', true, 0.81],
    ['failed', false, 0.2],
  ])
})

test('learners are named by id, external id or address, and never by their names', () => {
  const actorOf = (actor: 'external-id' | 'email', externalId: string | null = 'S-1') =>
    new StatementMaker({ ...form, actor }).statementOf({
      ...progress(50),
      record: { ...progress(50).record, learner: { ...learner, externalId } },
    }).actor
  expect(actorOf('external-id')).toMatchObject({ account: { name: 'S-1' } })
  expect(actorOf('external-id', null)).toMatchObject({ account: { name: 'usr_1' } })
  expect(actorOf('email')).toEqual({ objectType: 'Agent', mbox: 'mailto:o%2Fhara@school.example' })
})

test('an id is that of the record, its version, the actor and the academy', () => {
  const idOf = (given: object, version = 2) =>
    new StatementMaker({ ...form, ...given }).statementOf(progress(50, version)).id
  expect(idOf({ homePage: 'https://academy.example' })).toBe(idOf({}))
  expect(idOf({ version: '2.0.0' })).toBe(idOf({}))
  const others = [idOf({}), idOf({}, 3), idOf({ actor: 'email' }), idOf({ homePage: 'https://b.example' })]
  expect(new Set(others).size).toBe(4)
})

test('a statement of 2.0 says its version, one of 1.0.3 does not (Data 2.4.10)', () => {
  expect(new StatementMaker({ ...form, version: '2.0.0' }).statementOf(progress(50)).version).toBe('2.0.0')
  expect(maker.statementOf(progress(50))).not.toHaveProperty('version')
})
