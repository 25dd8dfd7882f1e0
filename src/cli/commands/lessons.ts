import type { Caller } from '../../client/caller.ts'
import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, versionFilters } from '../flags/lessons.ts'
import type { CourseOf } from '../operation/course-modules.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import {
  deletedLine,
  deletionAction,
  eraseFlag,
  lessonDeletionQuestion,
  readDeletedRecord,
  severalDeletionQuestion,
  shortDeletedLine,
  withDeleted,
} from './deletion.ts'
import { exportCommand } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'
import { moveCommand } from './lesson-move.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.lessons

const lesson = { name: 'lesson', summary: 'Lesson: id or external id' }
const columns = ['title', 'courseTitle', 'status', 'version', 'updatedAt', 'id']

/** Returns the line of a change: `Updated lesson The tides (tides), version 3`. */
function updatedText(verb: string) {
  return (answer: unknown, { arguments: { lesson } }: Given, unchanged: boolean): string =>
    updatedLine(verb, `lesson ${thingName(answer, lesson)}`, answer, unchanged)
}

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
    'lessons',
    withModuleTitle(
      call({
        name: 'list',
        summary: 'List lessons',
        operation: async () => (await contract()).list,
        query: filters,
        columns,
        examples: ['lessons list --course ext:first-course', 'lessons list --deleted'],
      }),
      courseGiven,
    ),
    call({
      name: 'list',
      summary: 'List deleted lessons',
      operation: async () => (await contract()).listDeleted,
      query: deletedFilters,
      columns: ['order', 'title', 'deletedAt', 'restorableUntil', 'externalId', 'id', 'courseId'],
    }),
  ),
  call({
    name: 'get',
    summary: 'Show a lesson',
    operation: async () => (await contract()).get,
    arguments: { lessonId: lesson },
    columns,
    examples: ['lessons get ext:welcome -o yaml'],
  }),
  withModuleTitle(
    call({
      name: 'create',
      summary: 'Create a lesson in a course',
      operation: async () => (await contract()).create,
      fields,
      exists: { dataset: 'lessons', name: (thing) => `lesson ${thingName(thing)}` },
      columns,
      done: (answer) => `Created lesson ${thingName(answer)}`,
      examples: [
        'lessons create --course ext:first-course --title "The tides" --duration-minutes 45',
        'lessons create --course ext:first-course --body @lesson.yaml',
        'lessons create --course first-course --external-id tides --title "The tides" --upsert',
      ],
    }),
    courseGiven,
  ),
  withModuleTitle(
    call({
      name: 'update',
      summary: 'Update lessons',
      operation: async () => (await contract()).update,
      arguments: { lessonId: lesson },
      several: 'lessons',
      fields,
      merge: true,
      versioned: true,
      columns,
      done: updatedText('Updated'),
      examples: [
        'lessons update ext:welcome --order 1',
        'lessons update ext:welcome --unset duration-minutes',
      ],
    }),
    courseOfLesson,
  ),
  moveCommand,
  call({
    name: 'delete',
    summary: 'Delete lessons',
    description: 'A local academy keeps a deleted lesson for 30 days; lessons restore brings it back.',
    operation: async () => (await contract()).delete,
    arguments: { lessonId: lesson },
    several: 'lessons',
    query: eraseFlag,
    destroys: {
      action: deletionAction('lesson'),
      read: readDeletedRecord('lesson'),
      question: lessonDeletionQuestion,
      several: severalDeletionQuestion('lesson'),
    },
    done: shortDeletedLine('lesson'),
    readDone: deletedLine('lesson'),
    examples: ['lessons delete ext:welcome --yes'],
  }),
  ...historyCommands({
    thing: 'lesson',
    argument: lesson,
    operations: contract,
    versionFilters,
    updateColumns: columns,
    columns,
    example: 'ext:welcome',
    updated: updatedText,
  }),
  importCommand('lessons', 'lessons', ['lessons import lessons.jsonl']),
  withModuleTitle(
    exportCommand({
      dataset: 'lessons',
      noun: 'lessons',
      query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
      order: 'createdAt',
      examples: ['lessons export --course ext:first-course --file all-lessons.jsonl'],
    }),
    courseGiven,
  ),
]
