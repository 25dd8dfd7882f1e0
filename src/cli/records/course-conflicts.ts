import { shellWord } from '../../codec/display-text.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { externalKeyOf } from '../dataset/shown-records.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import type { Planned } from './open-plan.ts'

const maxNamed = 20

/**
 * Throws a CommandError if a plan would take lessons from other courses, as after copying the file for the next term: the
 * external id of a lesson is unique in an academy.
 *
 * @param hint what to do (default: to copy the course)
 */
export async function requireOwnLessons(
  { plan, declared, reader: { names } }: Pick<Planned, 'plan' | 'declared' | 'reader'>,
  hint?: string,
): Promise<void> {
  const taken = plan.actions.filter(
    ({ dataset, changes }) => dataset === 'lessons' && changes.some(({ field }) => field === 'courseId'),
  )
  const [first] = taken
  if (!first) return
  const courseKey = first.entry?.record['courseId']
  const course = declared.get('courses')?.find(({ key }) => key === courseKey)?.record ?? {}
  const lessons = taken.filter(({ entry }) => entry?.record['courseId'] === courseKey)
  const named = new Map<unknown, JsonObject>()
  for (const { current } of lessons.slice(0, maxNamed)) {
    const { courseId, courseTitle } = current ?? {}
    if (named.has(courseId)) continue
    named.set(courseId, (await names.course(String(courseId))) ?? { id: courseId, title: courseTitle })
  }
  const [source = {}] = named.values()
  const from = shellWord(source['externalId'] ? `ext:${externalKeyOf(source)}` : String(source['id']))
  const [title, externalId] = [course['title'], course['externalId']].map((text) => shellWord(String(text)))
  const have = lessons.length === 1 ? 'has the external id of a lesson' : 'have external ids of lessons'
  throw new CommandError(
    'duplicate',
    'conflict',
    `${pluralise(lessons.length, 'lesson')} of course ${thingName(course)} ${have} of another course; nothing was sent`,
    {
      why: [
        ...lessons
          .slice(0, maxNamed)
          .map(
            ({ current }) =>
              `${current?.['externalId']}: lesson ${current?.['title']} of course ${thingName(named.get(current?.['courseId']))}`,
          ),
        ...(lessons.length > maxNamed ? [`and ${lessons.length - maxNamed} more`] : []),
      ],
      hint:
        hint ??
        `To make a new course of that one: learnctl courses copy ${from} --title ${title} --external-id ${externalId}; or give these lessons external ids of their own`,
      details: lessons.map(({ entry, current }) => ({
        ...{ externalId: current?.['externalId'], title: entry?.record['title'] },
        ...{ lessonId: current?.['id'], courseId: current?.['courseId'], isDeleted: false },
      })),
    },
  )
}
