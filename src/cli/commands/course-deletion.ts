import { shellWord } from '../../codec/shell-word.ts'
import type { Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Count, Lookup } from '../operation/lookup.ts'
import { thingName } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { counted } from '../terminal/counted.ts'
import { CommandError } from '../terminal/errors.ts'

/** Names what goes with a course; without `--force` throws a CommandError where that is more than the course itself. */
export async function courseDeletion(look: Lookup, { arguments: names, flags }: Given): Promise<Question> {
  const reference = names['course'] ?? ''
  const { courses, lessons, enrollments, analytics } = (await import('../../contract/calls.ts')).calls
  const found = await look.one(courses.get, { courseId: reference })
  const counts = [
    [await look.count(lessons.list, { course_id: reference }), 'lesson'],
    [await look.count(enrollments.list, { course_id: reference }), 'enrolment'],
  ] as const
  const [[lessonCount]] = counts
  const content = counts.flatMap(([some, noun]) =>
    some && isAny(some) ? [counted(some.count, noun, some.isExact)] : [],
  )
  const name = thingName(found, reference)
  const forced = flags['force'] === true
  // A report with a start has only those who were in the course at some time.
  const started = { course_id: reference, start_date: '1970-01-01', summary: false }
  const hasProgress = !forced && isAny(await look.count(analytics.learners, started))
  if (!forced && (isAny(lessonCount) || hasProgress)) {
    const code = hasProgress ? 'has_progress' : 'has_lessons'
    const what = [...content, ...(hasProgress ? ['learner progress'] : [])].join(' and ')
    throw new CommandError(code, 'conflict', `Course ${name} has ${what}`, {
      hint: `To delete all of it: learnctl courses delete ${shellWord(reference)} --force`,
    })
  }
  return {
    text: `Delete course ${name}${content.length > 0 ? ` with ${content.join(' and ')}` : ''}`,
    consequence: 'This cannot be undone.',
    typed: String(valueAt(found, 'title') ?? reference),
  }
}

/** Whether there is anything, as far as is known. */
function isAny(some: Count | undefined): boolean {
  return some !== undefined && (some.count > 0 || !some.isExact)
}
