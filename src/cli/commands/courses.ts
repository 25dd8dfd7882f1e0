import type { CourseInput } from '../../contract/courses.ts'
import type { Command, Given } from '../command/command.ts'
import { deletedFilters, fields, filters, versionFilters } from '../flags/courses.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { valueAt } from '../output/columns.ts'
import { applyCommand, copyCommand, validateCommand, withFiles, withLessons } from './course-file.ts'
import { eraseFlag, moveToTrash, withDeleted } from './deletion.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.courses

const argument = { name: 'course', summary: 'Course: id or external id' }
const columns = ['title', 'status', 'difficulty', 'version', 'updatedAt', 'externalId', 'id']
const updateColumns = ['id', 'version', 'previousVersion', 'modifiedAttributes']

const course = recordCommands({ operations: contract, argument, columns, filters, fields })

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
  verb: string,
  status: CourseInput['status'] & string,
  own: { readonly name: string; readonly summary: string; readonly examples: readonly string[] },
): Command {
  const done = updatedText(verb, status === 'draft' ? 'a draft' : status)
  return course.status(verb, status, { versioned: true, columns: updateColumns, done, ...own })
}

export const commands: readonly Command[] = [
  withDeleted(
    'course',
    course.list({
      examples: [
        'courses list --status published --sort title',
        'courses list --all -o csv > courses.csv',
        'courses list --deleted',
      ],
    }),
    {
      filters: deletedFilters,
      columns: ['title', 'lessons', 'enrollments', 'deletedAt', 'restorableUntil', 'externalId', 'id'],
    },
  ),
  withLessons(
    course.get({
      examples: [
        'courses get ext:AAA-2014J',
        'courses get ext:AAA-2014J -o json',
        'courses get ext:AAA-2014J --with-lessons -o yaml > course.yaml',
      ],
    }),
  ),
  course.create({
    dataset: 'courses',
    examples: [
      'courses create --title "Marine Biology" --difficulty beginner --tags science,sea',
      'courses create --body @course.yaml --title "Oceanography II"',
      'courses create --external-id BIO-101 --title Biology --upsert',
    ],
  }),
  course.update({
    columns: updateColumns,
    done: updatedText('Updated'),
    notes: warningsText,
    examples: ['courses update ext:first-course --passing-score 60 --unset language'],
  }),
  statusCommand('Published', 'published', {
    name: 'publish',
    summary: 'Publish courses and make them visible to learners',
    examples: [
      'courses publish ext:first-course',
      'courses list --status draft -q | learnctl courses publish --ids -',
    ],
  }),
  statusCommand('Unpublished', 'draft', {
    name: 'unpublish',
    summary: 'Return published courses to draft, if they have no learner progress',
    examples: ['courses unpublish ext:first-course'],
  }),
  statusCommand('Archived', 'archived', {
    name: 'archive',
    summary: 'Archive courses and close them to changes',
    examples: ['courses archive ext:first-course', 'courses archive AAA-2013J AAA-2014J'],
  }),
  course.delete({
    ...moveToTrash('course'),
    query: {
      force: {
        kind: 'switch',
        summary: 'Also delete the lessons, enrolments, progress and grades of the course',
      },
      ...eraseFlag,
    },
    examples: [
      'courses delete ext:first-course --force --yes',
      'courses delete ext:first-course --force --erase --yes',
    ],
  }),
  ...historyCommands({
    thing: 'course',
    argument,
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
    query: oldestFirst(filters),
    examples: ['courses export --file all-courses.csv', 'courses export --all-columns -o json'],
  }),
]
