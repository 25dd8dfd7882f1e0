import type { Caller } from '../../client/caller.ts'
import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, versionFilters } from '../flags/lessons.ts'
import type { CourseOf } from '../operation/course-modules.ts'
import { valueAt } from '../output/columns.ts'
import { moveToTrash, withDeleted } from './deletion.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'
import { moveCommand } from './lesson-move.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.lessons

const argument = { name: 'lesson', summary: 'Lesson: id or external id' }
const columns = ['title', 'courseTitle', 'status', 'version', 'updatedAt', 'id']

const lesson = recordCommands({ operations: contract, argument, columns, filters, fields })

/** Lets `--module` of a command be a title. */
function withModuleTitle(command: Command, courseOf: CourseOf): Command {
  return {
    ...command,
    run: async (context, given) => {
      if (given.flags['module'] === undefined) return command.run(context, given)
      const { withModuleId } = await import('../operation/course-modules.ts')
      await command.run(context, await withModuleId(context, given, courseOf))
    },
  }
}

async function courseGiven({ flags }: Given): Promise<string | null> {
  const courses = [flags['course'] ?? []].flat()
  return courses.length === 1 ? String(courses[0]) : null
}

/** Returns the course of the first lesson of a line, unless the line moves it to another. */
async function courseOfLesson(given: Given, caller: Caller, signal: AbortSignal): Promise<string | null> {
  const course = await courseGiven(given)
  const lessonId = given.arguments['lesson'] ?? given.rest[0]
  if (course !== null || lessonId === undefined) return course
  const { data } = await caller.call((await contract()).get, { params: { lessonId }, signal })
  return valueAt(data, 'courseId') === undefined ? null : String(valueAt(data, 'courseId'))
}

export const commands: readonly Command[] = [
  withDeleted(
    'lesson',
    withModuleTitle(
      lesson.list({ examples: ['lessons list --course ext:first-course', 'lessons list --deleted'] }),
      courseGiven,
    ),
    {
      filters: deletedFilters,
      columns: ['order', 'title', 'deletedAt', 'restorableUntil', 'externalId', 'id', 'courseId'],
    },
  ),
  lesson.get({ examples: ['lessons get ext:welcome -o yaml'] }),
  withModuleTitle(
    lesson.create({
      dataset: 'lessons',
      summary: 'Create a lesson in a course',
      examples: [
        'lessons create --course ext:first-course --title "The tides" --duration-minutes 45',
        'lessons create --course ext:first-course --body @lesson.yaml',
        'lessons create --course first-course --external-id tides --title "The tides" --upsert',
      ],
    }),
    courseGiven,
  ),
  withModuleTitle(
    lesson.update({
      examples: [
        'lessons update ext:welcome --order 1',
        'lessons update ext:welcome --unset duration-minutes',
      ],
    }),
    courseOfLesson,
  ),
  moveCommand,
  lesson.delete({
    ...moveToTrash('lesson'),
    examples: ['lessons delete ext:welcome --yes'],
  }),
  ...historyCommands({
    thing: 'lesson',
    argument,
    operations: contract,
    versionFilters,
    updateColumns: columns,
    columns,
    example: 'ext:welcome',
  }),
  importCommand('lessons', 'lessons', ['lessons import lessons.jsonl']),
  withModuleTitle(
    exportCommand({
      dataset: 'lessons',
      query: oldestFirst(filters),
      examples: ['lessons export --course ext:first-course --file all-lessons.jsonl'],
    }),
    courseGiven,
  ),
]
