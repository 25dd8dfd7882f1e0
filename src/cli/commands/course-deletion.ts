import type { Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Lookup } from '../operation/lookup.ts'
import { thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'

/** Names what goes with a course; without `--force` throws a CommandError where that is more than the course itself. */
export async function courseDeletion(look: Lookup, { arguments: names, flags }: Given): Promise<Question> {
  const reference = names['course'] ?? ''
  const [{ courses }, { lessons }, { enrollments }] = await Promise.all([
    import('../../contract/courses.ts'),
    import('../../contract/lessons.ts'),
    import('../../contract/enrollments.ts'),
  ])
  const found = await look.one(courses.get, { courseId: reference })
  const counts = [
    [await look.count(lessons.list, { course_id: reference }), 'lesson'],
    [await look.count(enrollments.list, { course_id: reference }), 'enrolment'],
  ] as const
  const [[lessonCount]] = counts
  const content = counts.flatMap(([count, noun]) => (count ? [counted(count, noun)] : []))
  const name = thingName(found, reference)
  if (lessonCount && flags['force'] !== true) {
    throw new CommandError('has_lessons', 'conflict', `Course ${name} has ${content.join(' and ')}`, {
      hint: `To delete all of it: learnctl courses delete ${reference} --force`,
    })
  }
  return {
    text: `Delete course ${name}${content.length > 0 ? ` with ${content.join(' and ')}` : ''}`,
    consequence: 'This cannot be undone.',
    typed: String(valueAt(found, 'title') ?? reference),
  }
}
