import type { CourseInput } from '../../contract/courses.ts'
import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, versionFilters } from '../flags/courses.ts'
import { call } from '../operation/operation-command.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { applyCommand, copyCommand, validateCommand, withFiles, withLessons } from './course-file.ts'
import {
  courseDeletionQuestion,
  deletedLine,
  deletionAction,
  eraseFlag,
  readDeletedRecord,
  severalDeletionQuestion,
  shortDeletedLine,
  withDeleted,
} from './deletion.ts'
import { exportCommand } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.courses

const course = { name: 'course', summary: 'Course: id or external id' }

const columns = ['title', 'status', 'difficulty', 'version', 'updatedAt', 'externalId', 'id']
const updateColumns = ['id', 'version', 'previousVersion', 'modifiedAttributes']

/** Returns the line of an update, `Updated course Marine Biology (BIO-101), version 3`, or that nothing changed. */
function updatedText(verb: string, state?: string) {
  return (answer: unknown, { arguments: names }: Given, unchanged: boolean): string => {
    const name = `course ${thingName(valueAt(answer, 'course') ?? answer, names['course'])}`
    const version = valueAt(answer, 'version')
    // Platforms without a version header return the previous version in the body.
    const same = version !== undefined && version === valueAt(answer, 'previousVersion')
    return updatedLine(verb, name, answer, unchanged || same, state)
  }
}

function warningsText(answer: object): string | null {
  const warnings = valueAt(answer, 'warnings')
  if (!Array.isArray(warnings)) return null
  return warnings.map((warning) => String(valueAt(warning, 'detail'))).join(' ')
}

function statusCommand(
  name: string,
  status: CourseInput['status'],
  verb: string,
  summary: string,
  examples: readonly string[] = [],
): Command {
  return call({
    name,
    summary,
    operation: async () => (await contract()).update,
    arguments: { courseId: course },
    several: 'courses',
    fixed: { status },
    versioned: true,
    columns: updateColumns,
    done: updatedText(verb, status === 'draft' ? 'a draft' : status),
    examples: [`courses ${name} ext:first-course`, ...examples],
  })
}

export const commands: readonly Command[] = [
  withDeleted(
    'courses',
    call({
      name: 'list',
      summary: 'List courses',
      operation: async () => (await contract()).list,
      query: filters,
      columns,
      examples: [
        'courses list --status published --sort title',
        'courses list --all -o csv > courses.csv',
        'courses list --deleted',
      ],
    }),
    call({
      name: 'list',
      summary: 'List deleted courses',
      operation: async () => (await contract()).listDeleted,
      query: deletedFilters,
      columns: ['title', 'lessons', 'enrollments', 'deletedAt', 'restorableUntil', 'externalId', 'id'],
    }),
  ),
  withLessons(
    call({
      name: 'get',
      summary: 'Show a course',
      operation: async () => (await contract()).get,
      arguments: { courseId: course },
      columns,
      examples: [
        'courses get ext:AAA-2014J',
        'courses get ext:AAA-2014J -o json',
        'courses get ext:AAA-2014J --with-lessons -o yaml > course.yaml',
      ],
    }),
  ),
  call({
    name: 'create',
    summary: 'Create a course',
    operation: async () => (await contract()).create,
    fields,
    exists: { dataset: 'courses', name: (thing) => `course ${thingName(thing)}` },
    columns,
    done: (answer) => `Created course ${thingName(answer)}`,
    examples: [
      'courses create --title "Marine Biology" --difficulty beginner --tags science,sea',
      'courses create --body @course.yaml --title "Oceanography II"',
      'courses create --external-id BIO-101 --title Biology --upsert',
    ],
  }),
  call({
    name: 'update',
    summary: 'Update courses',
    operation: async () => (await contract()).update,
    arguments: { courseId: course },
    several: 'courses',
    fields,
    merge: true,
    versioned: true,
    columns: updateColumns,
    done: updatedText('Updated'),
    notes: warningsText,
    examples: ['courses update ext:first-course --passing-score 60 --unset language'],
  }),
  statusCommand('publish', 'published', 'Published', 'Publish courses and make them visible to learners', [
    'courses list --status draft -q | learnctl courses publish --ids -',
  ]),
  statusCommand(
    'unpublish',
    'draft',
    'Unpublished',
    'Return published courses to draft, if they have no learner progress',
  ),
  statusCommand('archive', 'archived', 'Archived', 'Archive courses and close them to changes', [
    'courses archive AAA-2013J AAA-2014J',
  ]),
  call({
    name: 'delete',
    summary: 'Delete courses',
    description: 'A local academy keeps a deleted course for 30 days; courses restore brings it back.',
    operation: async () => (await contract()).delete,
    arguments: { courseId: course },
    several: 'courses',
    query: {
      force: {
        kind: 'switch',
        summary: 'Also delete the lessons, enrolments, progress and grades of the course',
      },
      ...eraseFlag,
    },
    destroys: {
      action: deletionAction('course'),
      read: readDeletedRecord('course'),
      question: courseDeletionQuestion,
      several: severalDeletionQuestion('course'),
    },
    done: shortDeletedLine('course'),
    readDone: deletedLine('course'),
    examples: [
      'courses delete ext:first-course --force --yes',
      'courses delete ext:first-course --force --erase --yes',
    ],
  }),
  ...historyCommands({
    thing: 'course',
    argument: course,
    operations: contract,
    versionFilters,
    updateColumns,
    columns,
    example: 'ext:first-course',
    updated: updatedText,
  }).map((command) => (command.name === 'diff' ? withFiles(command) : command)),
  applyCommand,
  validateCommand,
  copyCommand,
  importCommand('courses', 'courses', ['courses import courses.csv']),
  exportCommand({
    dataset: 'courses',
    noun: 'courses',
    query: { ...filters, sort: { ...filters.sort, default: 'createdAt' } },
    order: 'createdAt',
    examples: ['courses export --file all-courses.csv', 'courses export --all-columns -o json'],
  }),
]
