import { isJsonObject, type JsonObject } from '../codec/json-object.ts'
import { wholeCourse } from '../contract/whole-course.ts'
import { type Adapter, candidates, grade, ignored } from './adapter.ts'
import { labelAt, memberAt, numberAt, requiredIdAt } from './member.ts'

/** Events of Open edX as its webhook plugins send them: what an event is about stands under a name of the plugin's own. */
export const adaptOpenedx: Adapter = ({ body, settings, at }) => {
  const name = labelAt(body, 'event_metadata.event_type')
  const data = gradeData(body)
  if (data === undefined) return ignored(name, 'event_type')
  const fraction = numberAt(data, 'percent_grade')
  const event = {
    name,
    course: candidates(
      ...(['key', 'externalId'] as const).map((by) => [by, requiredIdAt(data, 'course.course_key')] as const),
    ),
    learner: candidates(['key', requiredIdAt(data, 'user_id')]),
    itemId: wholeCourse,
    label: '',
    // 0.07 · 100 is 7.000000000000001: four decimals are more than a grade has.
    scoreGiven: fraction === null ? null : Math.round(fraction * 1e6) / 1e4,
    scoreMaximum: 100,
    published: true,
    gradedAt: at(),
  }
  // A fraction above 1 is not a fraction: another scale would make every grade a hundred times what it is.
  if ((fraction ?? 0) > 1) return ignored(name, 'score_out_of_range')
  return grade({ ...event, takesDefault: false }, settings)
}

function gradeData(body: JsonObject): JsonObject | undefined {
  return [body, ...Object.values(body)]
    .filter(isJsonObject)
    .find((value) => memberAt(value, 'percent_grade') !== undefined)
}
