import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import { wholeCourse } from '../contract/constants.ts'
import { candidatesOf, type EventReader, ignoreEvent, makeGrade } from './event.ts'
import { labelAt, memberAt, numberAt, requiredIdAt } from './payload.ts'
import type { SimulatedEvents } from './simulated-event.ts'

/** The webhook plugins put the data of events under names of their own. */
export const readOpenedxEvent: EventReader = ({ body, settings, at }) => {
  const name = labelAt(body, 'event_metadata.event_type')
  const data = findGradeData(body)
  if (data === undefined) return ignoreEvent(name, 'event_type')
  const fraction = numberAt(data, 'percent_grade')
  const event = {
    name,
    course: candidatesOf(
      ...(['key', 'externalId'] as const).map((by) => [by, requiredIdAt(data, 'course.course_key')] as const),
    ),
    learner: candidatesOf(['key', requiredIdAt(data, 'user_id')]),
    itemId: wholeCourse,
    label: '',
    // Four decimals, because 0.07 · 100 is 7.000000000000001.
    scoreGiven: fraction === null ? null : Math.round(fraction * 1e6) / 1e4,
    scoreMaximum: 100,
    published: true,
    gradedAt: at(),
  }
  // A value above 1 is not a fraction; with another scale every grade would be a hundred times too high.
  if ((fraction ?? 0) > 1) return ignoreEvent(name, 'score_out_of_range')
  return makeGrade({ ...event, takesDefault: false }, settings)
}

function findGradeData(body: JsonObject): JsonObject | undefined {
  return [body, ...Object.values(body)]
    .filter(isJsonObject)
    .find((value) => memberAt(value, 'percent_grade') !== undefined)
}

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

/** UTC without a zone, in microseconds. */
function naiveTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '000')
}
