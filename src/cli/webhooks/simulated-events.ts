import type { LmsKind } from '../../contract/constants.ts'
import { canvasEvents } from './canvas-events.ts'
import { nameBy, type SimulatedEvent, type SimulatedEvents, type SimulatedFacts } from './simulated-event.ts'

/** Events of the Moodle plugin local_webhooks; none contains a maximum. */
export const moodleEvents: SimulatedEvents = {
  user_graded: {
    summary: 'A learner was graded in an item',
    takes: ['item', 'score'],
    namesUser: ['id'],
    namesCourse: ['id'],
    payload: (facts) => ({
      ...moodleEnvelope(facts, 'user_graded'),
      action: 'graded',
      target: 'user',
      objecttable: 'grade_grades',
      crud: 'u',
      edulevel: 1,
      // The grader.
      userid: '2',
      other: {
        itemid: facts.item ?? '12',
        overridden: false,
        finalgrade: facts.score === null ? null : facts.score.toFixed(5),
      },
    }),
  },
  course_completed: {
    summary: 'A learner completed a course',
    takes: [],
    namesUser: ['id'],
    namesCourse: ['id'],
    payload: (facts) => ({
      ...moodleEnvelope(facts, 'course_completed'),
      action: 'completed',
      target: 'course',
      objecttable: 'course_completions',
      crud: 'u',
      edulevel: 2,
      userid: nameBy(facts.user, 'id'),
      other: { relateduserid: nameBy(facts.user, 'id') },
    }),
  },
}

function moodleEnvelope({ user, course, at, serial }: SimulatedFacts, name: string) {
  return {
    eventname: `\\core\\event\\${name}`,
    component: 'core',
    objectid: String(Number.parseInt(serial.slice(0, 6) + serial.slice(-4), 16)),
    contextid: 27,
    contextlevel: 50,
    contextinstanceid: nameBy(course, 'id'),
    courseid: nameBy(course, 'id'),
    relateduserid: nameBy(user, 'id'),
    anonymous: 0,
    timecreated: Math.floor(at.getTime() / 1000),
    host: 'moodle.example.org',
    extra: '',
  }
}

/** The event of Open edX with a grade, as its webhook plugin sends it. */
export const openedxEvents: SimulatedEvents = {
  grade: {
    summary: 'The grade of a learner in a course changed (a percentage)',
    takes: ['score'],
    namesUser: ['id'],
    namesCourse: ['id', 'externalId'],
    payload: ({ user, course, score, at, serial }) => ({
      'openedx_events.learning.data.PersistentCourseGradeData': {
        user_id: /^\d{1,15}$/.test(user.value) ? Number(user.value) : user.value,
        course: { course_key: course.value, display_name: 'Simulated course', start: null, end: null },
        course_edited_timestamp: naiveTime(at).slice(0, 19),
        course_version: '',
        grading_policy_hash: '',
        percent_grade: score === null ? null : Math.round(score * 1e4) / 1e6,
        letter_grade: '',
        passed_timestamp: null,
      },
      event_metadata: {
        id: serial,
        event_type: 'org.openedx.learning.course.persistent_grade_summary.changed.v1',
        minorversion: 0,
        source: 'openedx/lms/web',
        sourcehost: 'openedx.example.org',
        time: naiveTime(at),
        sourcelib: [0, 6, 0],
      },
    }),
  },
}

/** Formats a time in UTC without a zone, in microseconds. */
function naiveTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '000')
}

/** Events of Thinkific with progress. */
export const thinkificEvents: SimulatedEvents = {
  'enrollment.progress': {
    ...thinkificEvent('progress'),
    summary: 'A learner made progress in a course',
    takes: ['percentage'],
  },
  'enrollment.completed': {
    ...thinkificEvent('completed'),
    summary: 'A learner completed a course',
    takes: [],
  },
}

function thinkificEvent(action: string): Omit<SimulatedEvent, 'summary' | 'takes'> {
  return {
    namesUser: ['id', 'email'],
    namesCourse: ['id'],
    headers: { 'x-thinkific-topic': `enrollment.${action}`, 'x-thinkific-subdomain': 'simulated' },
    payload: (facts) =>
      thinkificPayload({ ...facts, ...(action === 'completed' && { percentage: 100 }) }, action),
  }
}

function thinkificPayload({ user, course, percentage, at, serial }: SimulatedFacts, action: string) {
  const courseId = thinkificId(nameBy(course, 'id'), 25)
  const time = at.toISOString()
  return {
    id: serial,
    resource: 'enrollment',
    action,
    tenant_id: '59',
    created_at: time,
    payload: {
      activated_at: time,
      completed_at: percentage === 100 ? time : null,
      course: { id: courseId, name: 'Simulated course' },
      course_id: courseId,
      free_trial: false,
      percentage_completed: Number.isInteger(percentage) ? percentage.toFixed(1) : String(percentage),
      started_at: time,
      updated_at: time,
      user: {
        email: nameBy(user, 'email') ?? 'simulated.learner@example.org',
        first_name: 'Simulated',
        id: thinkificId(nameBy(user, 'id'), 95),
        last_name: 'Learner',
      },
    },
  }
}

function thinkificId(id: string | null, other: number): string | number {
  if (id === null) return other
  return /^\d{1,15}$/.test(id) ? Number(id) : id
}

/** A score of LTI Assignment and Grade Services in an envelope of Standard Webhooks. */
export const standardEvents: SimulatedEvents = {
  'grade.updated': {
    summary: 'A learner was graded in an item',
    takes: ['item', 'label', 'score', 'maximum', 'published'],
    namesUser: ['id', 'externalId', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: ({ user, course, item, label, score, maximum, published, at }) => ({
      type: 'grade.updated',
      timestamp: at.toISOString(),
      data: {
        courseId: course.by === 'externalId' ? `ext:${course.value}` : course.value,
        userId: user.by === 'externalId' ? `ext:${user.value}` : user.value,
        itemId: item ?? 'quiz-1',
        ...(label !== undefined && { label }),
        timestamp: at.toISOString(),
        scoreGiven: score,
        scoreMaximum: maximum,
        activityProgress: 'Completed',
        gradingProgress: published ? 'FullyGraded' : 'PendingManual',
      },
    }),
  },
}

/** All events that can be simulated, by kind. */
export const simulatedEvents: Readonly<Record<LmsKind, SimulatedEvents>> = {
  canvas: canvasEvents,
  moodle: moodleEvents,
  openedx: openedxEvents,
  thinkific: thinkificEvents,
  standard: standardEvents,
}
