import { idAt, labelAt, malformedPayload, numberAt, requiredIdAt } from './delivery.ts'
import {
  candidatesOf,
  type EventReader,
  ignoreEvent,
  makeGrade,
  nameBy,
  type SimulatedEvents,
  type SimulatedFacts,
} from './event.ts'

export const readMoodleEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'eventname')
  if (name === '') throw malformedPayload('eventname is required.')
  const isGrade = name === '\\core\\event\\user_graded'
  if (!isGrade && name !== '\\core\\event\\course_completed') return ignoreEvent(name, 'event_type')
  // relateduserid, because userid is the grader, or the program that completes courses.
  const learner = candidatesOf(['key', idAt(body, 'relateduserid')])
  if (learner.length === 0) return ignoreEvent(name, 'anonymous')
  const course = candidatesOf(['key', requiredIdAt(body, 'courseid')])
  if (!isGrade) return { type: 'progress', name, course, learner, percentage: 100, at: at() }
  const event = {
    ...{ name, course, learner },
    itemId: requiredIdAt(body, 'other.itemid'),
    label: '',
    scoreGiven: numberAt(body, 'other.finalgrade'),
    scoreMaximum: null,
    published: true,
    gradedAt: at(),
  }
  return makeGrade(event, settings, true)
}

/** Events of the plugin local_webhooks; none contains a maximum. */
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
