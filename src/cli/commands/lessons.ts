import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, versionFilters } from '../flags/lessons.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
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

const contract = async () => (await import('../../contract/calls.ts')).calls.lessons

const lesson = { name: 'lesson', summary: 'Lesson: id or external id' }
const columns = ['order', 'title', 'courseTitle', 'status', 'version', 'updatedAt', 'id']

/** Returns the line of a change: `Updated lesson The tides (tides), version 3`. */
function updatedText(verb: string) {
  return (answer: unknown, { arguments: { lesson } }: Given, unchanged: boolean): string =>
    updatedLine(verb, `lesson ${thingName(answer, lesson)}`, answer, unchanged)
}

/** `learnctl lessons …` */
export const commands: readonly Command[] = [
  withDeleted(
    'lessons',
    call({
      name: 'list',
      summary: 'List lessons',
      operation: async () => (await contract()).list,
      query: filters,
      columns,
      examples: ['lessons list --course ext:first-course', 'lessons list --deleted'],
    }),
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
    examples: ['lessons update ext:welcome --order 1', 'lessons update ext:welcome --unset duration-minutes'],
  }),
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
  exportCommand({
    dataset: 'lessons',
    noun: 'lessons',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['lessons export --course ext:first-course --file all-lessons.jsonl'],
  }),
]
