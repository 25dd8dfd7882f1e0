import { describe, expect, test } from 'vitest'
import type { LmsKind } from '../../src/contract/constants.ts'
import { readEvent } from '../../src/lms/kinds.ts'
import { plainSettings, sample } from './samples.ts'

const key = (value: string) => ({ by: 'key', value })
const externalId = (value: string) => ({ by: 'externalId', value })
const email = (value: string) => ({ by: 'email', value })

/** What the grades of most samples have in common. */
const grade = { type: 'grade', label: '', weight: null, published: true }

test.for([
  [
    'canvas',
    'canvas.grade_change',
    {
      ...grade,
      name: 'grade_change',
      course: [key('21070000000000565'), key('565'), externalId('2017.100.101.101-1')],
      learner: [key('21070000000000048'), key('48'), externalId('ABC.123')],
      itemId: '355',
      scoreGiven: 5,
      scoreMaximum: 1,
      gradedAt: '2019-11-01T19:11:05.222Z',
    },
  ],
  [
    'canvas',
    'canvas.caliper_grade.composed',
    {
      ...grade,
      name: 'GradeEvent',
      course: [key('21070000000000565'), key('565')],
      learner: [key('21070000000000048'), key('48'), externalId('ABC.123')],
      itemId: '355',
      scoreGiven: 5,
      scoreMaximum: 1,
      gradedAt: '2019-11-01T19:11:05.222Z',
    },
  ],
  [
    'canvas',
    'canvas.course_grade_change.composed',
    {
      ...grade,
      name: 'course_grade_change',
      course: [key('2'), key('21070000000000002'), externalId('194387')],
      learner: [key('2'), key('21070000000000002')],
      itemId: '$course',
      scoreGiven: 17.31,
      scoreMaximum: 100,
      gradedAt: '2019-12-11T16:26:34.552Z',
    },
  ],
  [
    'canvas',
    'canvas.course_progress',
    {
      type: 'progress',
      name: 'course_progress',
      course: [key('1234567'), key('21070000001234567'), externalId('2017.102.102.102-2')],
      learner: [key('1122'), key('21070000000001122'), email('user@domain.tld')],
      percentage: (101 / 123) * 100,
      at: '2019-11-01T19:11:13.590Z',
    },
  ],
  [
    'canvas',
    'canvas.course_completed',
    {
      type: 'progress',
      name: 'course_completed',
      course: [key('565'), key('21070000000000565'), externalId('2017.100.101.101-1')],
      learner: [key('123'), key('21070000000000123'), email('inewton@example.com')],
      percentage: 100,
      at: '2019-11-01T19:11:26.615Z',
    },
  ],
  [
    'moodle',
    'moodle_local_webhooks.user_graded.composed',
    {
      ...grade,
      name: '\\core\\event\\user_graded',
      course: [key('4')],
      learner: [key('15')],
      itemId: '12',
      scoreGiven: 85,
      scoreMaximum: 100,
      gradedAt: '2025-07-01T10:20:00.000Z',
    },
  ],
  [
    'openedx',
    'openedx_webhooks_plugin.grade.composed',
    {
      ...grade,
      name: 'org.openedx.learning.course.persistent_grade_summary.changed.v1',
      course: [key('course-v1:edX+100+2021'), externalId('course-v1:edX+100+2021')],
      learner: [key('42')],
      itemId: '$course',
      scoreGiven: 80,
      scoreMaximum: 100,
      gradedAt: '2021-09-21T15:36:31.311Z',
    },
  ],
  [
    'thinkific',
    'thinkific.enrollment.progress',
    {
      type: 'progress',
      name: 'enrollment.progress',
      course: [key('25')],
      learner: [key('95'), email('[TEST] john@doe.com')],
      percentage: 24,
      at: '2014-02-01T00:20:04.019Z',
    },
  ],
  [
    'standard',
    'standard.grade_updated.composed',
    {
      ...grade,
      name: 'grade.updated',
      course: [{ by: 'reference', value: 'ext:BIO-101' }, key('ext:BIO-101')],
      learner: [{ by: 'reference', value: 'email:ada@example.org' }, key('email:ada@example.org')],
      itemId: 'quiz-1',
      label: 'Quiz 1',
      scoreGiven: 83,
      scoreMaximum: 100,
      gradedAt: '2026-01-05T09:59:58.120Z',
    },
  ],
] as const)('%s: %s means what it says', ([kind, name, event]) => {
  expect(readEvent(kind, sample(name), plainSettings)).toEqual(event)
})

/** Returns the event of a sample with some members changed. */
function meaning(kind: LmsKind, name: string, changes: Readonly<Record<string, unknown>>) {
  return readEvent(kind, sample(name, changes), plainSettings)
}

describe('Canvas', () => {
  const graded = (changes: Readonly<Record<string, unknown>>) =>
    meaning('canvas', 'canvas.grade_change', changes)

  test('a grade that is muted, or partial, is not published', () => {
    expect(graded({ 'body.muted': true })).toMatchObject({ type: 'grade', published: false })
    expect(graded({ 'body.grading_complete': false })).toMatchObject({ published: false })
  })

  test('no score and no grade take a grade back; a grade without a score does not', () => {
    expect(graded({ 'body.score': null, 'body.grade': null })).toMatchObject({ scoreGiven: null })
    expect(graded({ 'body.score': null, 'body.grade': 'complete' })).toMatchObject({ reason: 'no_score' })
  })

  test('a grade needs a maximum, one that is taken back does not', () => {
    expect(graded({ 'body.points_possible': 0 })).toMatchObject({ type: 'ignored', reason: 'no_maximum' })
    const cleared = { 'body.points_possible': null, 'body.score': null, 'body.grade': null }
    expect(graded(cleared)).toMatchObject({ type: 'grade', scoreGiven: null, scoreMaximum: 100 })
  })

  test('an integer that no number holds is the id that it is', () => {
    const body = sample('canvas.grade_change', { 'body.user_id': 21070000000000048n })
    expect(readEvent('canvas', body, plainSettings)).toMatchObject({
      learner: [key('21070000000000048'), key('48'), externalId('ABC.123')],
    })
  })

  test('an id of another shard has no local form', () => {
    expect(graded({ 'body.user_id': '70000000000048', 'body.student_sis_id': null })).toMatchObject({
      learner: [key('70000000000048')],
    })
  })

  test('an override, which goes by the same name, is no grade of an item', () => {
    const body = { user_id: '45', course_id: '46', override_score: 90, grading_period_id: '47' }
    expect(graded({ body })).toMatchObject({ type: 'ignored', reason: 'event_type' })
  })

  test('a course without requirements has no progress', () => {
    expect(
      meaning('canvas', 'canvas.course_progress', { 'body.progress.requirement_count': 0 }),
    ).toMatchObject({ type: 'ignored', reason: 'no_requirements' })
  })

  test('other events are ignored, whatever is in them', () => {
    expect(graded({ 'metadata.event_name': 'submission_created', body: null })).toEqual({
      type: 'ignored',
      name: 'submission_created',
      reason: 'event_type',
    })
    expect(graded({ 'metadata.event_name': 'constructor' })).toMatchObject({ reason: 'event_type' })
  })
})

describe('Moodle', () => {
  const name = 'moodle_local_webhooks.user_graded.composed'

  test('the integration knows the maximum, the name and the weight of an item', () => {
    const gradeItems = { '12': { name: 'Essay', maximum: 170, weight: 40 } }
    expect(readEvent('moodle', sample(name), { gradeItems, defaultGradeMaximum: 50 })).toMatchObject({
      label: 'Essay',
      scoreMaximum: 170,
      weight: 40,
    })
    expect(readEvent('moodle', sample(name), { gradeItems: {}, defaultGradeMaximum: 50 })).toMatchObject({
      label: '',
      scoreMaximum: 50,
      weight: null,
    })
  })

  test.for([null, ''])('a final grade of %j takes the grade back', (finalgrade) => {
    expect(meaning('moodle', name, { 'other.finalgrade': finalgrade })).toMatchObject({ scoreGiven: null })
  })

  test('a completed course is progress of 100 per cent', () => {
    expect(meaning('moodle', name, { eventname: '\\core\\event\\course_completed' })).toEqual({
      type: 'progress',
      name: '\\core\\event\\course_completed',
      course: [key('4')],
      learner: [key('15')],
      percentage: 100,
      at: '2025-07-01T10:20:00.000Z',
    })
  })
})

describe('Open edX', () => {
  const name = 'openedx_webhooks_plugin.grade.composed'

  test('the data of a grade may stand under any name', () => {
    const { 'openedx_events.learning.data.PersistentCourseGradeData': grade, ...rest } = sample(name)
    expect(readEvent('openedx', { grade, ...rest }, plainSettings)).toEqual(
      readEvent('openedx', sample(name), plainSettings),
    )
    expect(readEvent('openedx', rest, plainSettings)).toMatchObject({ type: 'ignored', reason: 'event_type' })
  })

  test('a fraction above 1 is no fraction', () => {
    const { 'openedx_events.learning.data.PersistentCourseGradeData': grade, ...rest } = sample(name)
    const data = { ...(grade as object), percent_grade: 80 }
    expect(readEvent('openedx', { grade: data, ...rest }, plainSettings)).toMatchObject({
      type: 'ignored',
      reason: 'score_out_of_range',
    })
  })
})

describe('Thinkific', () => {
  const name = 'thinkific.enrollment.progress'

  test('a completed enrolment is progress of 100 per cent, whatever number is beside it', () => {
    const changes = { action: 'completed', 'payload.percentage_completed': '1.0' }
    expect(meaning('thinkific', name, changes)).toMatchObject({ type: 'progress', percentage: 100 })
  })

  test('progress beyond 100 per cent, and other events, are ignored', () => {
    expect(meaning('thinkific', name, { 'payload.percentage_completed': '100.1' })).toMatchObject({
      reason: 'score_out_of_range',
    })
    expect(meaning('thinkific', name, { action: 'created' })).toMatchObject({ reason: 'event_type' })
    // An event's name has two parts of the maximum length each.
    const long = 'x'.repeat(255)
    expect(meaning('thinkific', name, { resource: long })).toMatchObject({ type: 'ignored', name: long })
  })
})

describe('Standard', () => {
  const graded = (changes: Readonly<Record<string, unknown>>) =>
    meaning('standard', 'standard.grade_updated.composed', changes)

  test.for(['NotReady', 'Failed', 'Pending', 'PendingManual'])('%s is not published', (progress) => {
    expect(graded({ 'data.gradingProgress': progress })).toMatchObject({ published: false })
  })

  test('a score may be above its maximum, which is required with it', () => {
    expect(graded({ 'data.scoreGiven': 120 })).toMatchObject({ scoreGiven: 120, scoreMaximum: 100 })
    expect(() => graded({ 'data.scoreMaximum': undefined })).toThrow('scoreMaximum is required')
    expect(graded({ 'data.scoreMaximum': undefined, 'data.scoreGiven': null })).toMatchObject({
      scoreGiven: null,
    })
  })

  test('a learner may be named by address alone', () => {
    expect(graded({ 'data.userId': 'ada@example.org' })).toMatchObject({
      learner: [
        { by: 'reference', value: 'ada@example.org' },
        key('ada@example.org'),
        email('ada@example.org'),
      ],
    })
  })

  test('a grade without an item is that of the course', () => {
    expect(graded({ 'data.itemId': undefined })).toMatchObject({ itemId: '$course' })
  })

  test('a score that no gradebook takes is ignored, with the reason', () => {
    expect(graded({ 'data.scoreGiven': -1 })).toMatchObject({ reason: 'score_out_of_range' })
    expect(graded({ 'data.scoreGiven': 1e300 })).toMatchObject({ reason: 'score_out_of_range' })
    expect(graded({ 'data.scoreMaximum': 5e-324 })).toMatchObject({ reason: 'score_out_of_range' })
    expect(graded({ 'data.scoreGiven': 10_001 })).toMatchObject({ reason: 'score_out_of_range' })
    expect(graded({ 'data.scoreGiven': 10_000 })).toMatchObject({ type: 'grade' })
  })
})
