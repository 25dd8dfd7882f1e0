import { escapeReference } from '../../codec/reference.ts'
import { type LmsKind, readableKinds, wholeCourse } from '../../contract/constants.ts'
import { valueAt } from '../../tables/column.ts'
import type { Argument, Command, Given } from '../command/command.ts'
import { bindQueryFlags, checkChoices, type Flag } from '../command/flag.ts'
import { formatFlag, targetFlags } from '../export/export-options.ts'
import type { GradebookSystem } from '../export/gradebook-export.ts'
import { gradeFlags } from '../flags/learners.ts'
import { call } from '../operation/operation-command.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { courseIn, personIn } from '../operation/thing-name.ts'
import { pseudonymFlags, timesFlag } from '../pseudonyms/pseudonym-flags.ts'
import { sheetFlag } from '../targets/sheet-flag.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.grades

/** The learner; without flags the grade's id. */
const argument = {
  name: 'learner',
  summary: 'Learner: id, external id or e-mail address; or the id of a grade',
  unlisted: ['--learner', '--user'],
} satisfies Argument

const ownFlags: readonly Flag[] = [
  { name: 'course', unlisted: ['--course-id'], kind: 'text', summary: 'Course: id or external id' },
  {
    name: 'item',
    unlisted: ['--item-id'],
    kind: 'text',
    summary: 'Item, such as exam-1 (default the only one that has a grade)',
  },
  { name: 'source', kind: 'text', summary: 'Source of the grade, where an item has several' },
]

const oneGrade = { flags: ownFlags, finds: findGrade }
const example = 'ext:65002 --course ext:AAA-2014J --item 1758'
const columns = [
  'userEmail',
  'courseTitle',
  'itemId',
  'percent',
  'gradedAt',
  'label',
  'scoreGiven',
  'scoreMaximum',
  'id',
]

function givenName({ arguments: { learner }, flags: { course, item } }: Given): string {
  if (course === undefined) return `grade ${learner}`
  return `the grade of ${learner}${item === undefined ? '' : ` for ${item}`} in course ${course}`
}

function shownName(found: unknown, given: Given): string {
  if (valueAt(found, 'userEmail') === undefined) return givenName(given)
  const [itemId, scoreGiven, maximum] = ['itemId', 'scoreGiven', 'scoreMaximum'].map((field) =>
    valueAt(found, field),
  )
  const score = scoreGiven === null ? 'cleared grade' : `grade ${scoreGiven} of ${maximum}`
  const item = itemId === wholeCourse ? '' : ` for ${itemId}`
  return `the ${score} of ${personIn(found, undefined)}${item} in course ${courseIn(found, given)}`
}

const grade = recordCommands({
  operations: contract,
  argument,
  parameter: 'gradeId',
  noun: 'grade',
  columns,
  filters: gradeFlags.filters,
  nameOf: shownName,
})

const boundReportFilters = bindQueryFlags(gradeFlags.reportFilters)

const systemFlag = {
  name: 'for',
  kind: 'text',
  placeholder: 'system',
  summary: 'Lay it out as this system exports it, as CSV (default own columns)',
  choices: ['canvas', 'moodle', 'openedx'] satisfies readonly GradebookSystem[],
} as const satisfies Flag

export const commands: readonly Command[] = [
  grade.list({ examples: ['grades list --course ext:AAA-2014J --item 1758 --all'] }),
  grade.get({ ...oneGrade, examples: [`grades get ${example}`] }),
  call({
    name: 'set',
    summary: 'Record a grade of a learner in a course',
    description:
      'Learner, course, item and source identify a grade: a second one changes it, unless it was graded earlier (exit 6), and\nkeeps what is not given. If several sources have a grade of the item, --source says which.\nThe grade of the course is recalculated at once: that of the whole course, else the mean of its items by their weights.\nGrades without a score, and those that are not published, do not count. A score above the maximum has to be confirmed,\nor needs --extra-credit.',
    operation: async () => (await contract()).set,
    subject: {
      field: 'learnerId',
      argument: {
        name: 'learner',
        summary: 'Learner: id, external id or e-mail address',
        unlisted: ['--learner', '--user', '--learner-id'],
      },
    },
    several: 'grades',
    fields: gradeFlags.fields,
    confirms: {
      field: 'extraCredit',
      code: 'above_maximum',
      action: ({ flags }) => `record a score of ${flags['score']} as extra credit`,
      consequence: 'It is above the maximum.',
    },
    columns,
    done: (answer, given, unchanged) => {
      const item = valueAt(answer, 'itemId') ?? given.flags['item'] ?? wholeCourse
      const [person, course] = [personIn(answer, given.arguments['learner']), courseIn(answer, given)]
      const whose =
        item === wholeCourse
          ? `the grade of ${person} for the whole of course ${course}`
          : `the grade of ${person} for ${item} in course ${course}`
      if (unchanged) return `No changes to ${whose}`
      if (valueAt(answer, 'scoreGiven') === null) return `Cleared ${whose}`
      const hidden = valueAt(answer, 'published') === false ? ', not published' : ''
      return `Set ${whose} to ${valueAt(answer, 'scoreGiven')} of ${valueAt(answer, 'scoreMaximum')}${hidden}`
    },
    notes: (answer) => {
      const warnings = valueAt(answer, 'warnings')
      if (!Array.isArray(warnings)) return null
      return warnings
        .map((warning) => {
          const flag = valueAt(warning, 'code') === 'several_maxima' ? '--maximum' : '--weight'
          return `${valueAt(warning, 'detail')} Set one with ${flag}`
        })
        .join('. ')
    },
    examples: [
      'grades set ext:11391 --course ext:AAA-2013J --score 85',
      'grades set ext:11391 --course ext:AAA-2013J --item exam-1 --score 17 --maximum 20 --weight 60',
      'grades set ext:11391 --course ext:AAA-2013J --item exam-1 --score none',
    ],
  }),
  grade.delete({
    ...oneGrade,
    consequence: 'The grade of the course is calculated again. This cannot be undone.',
    consequences: 'The grades of their courses are calculated again. This cannot be undone.',
    examples: [`grades delete ${example} --yes`],
  }),
  call({
    name: 'history',
    summary: 'List the history of a grade, newest first',
    operation: async () => (await contract()).history,
    arguments: { gradeId: argument },
    ...oneGrade,
    query: gradeFlags.historyFilters,
    columns: ['version', 'scoreGiven', 'scoreMaximum', 'gradedAt', 'recordedAt', 'recordedByEmail'],
    examples: [`grades history ${example}`],
  }),
  importCommand({
    dataset: 'grades',
    nouns: 'grades',
    examples: [
      'grades import grades.csv',
      'grades import gradebook.csv --gradebook ext:AAA-2014J',
      'grades import --from canvas --dry-run',
    ],
    fieldSwitch: {
      field: 'extraCredit',
      flag: {
        name: 'extra-credit',
        kind: 'switch',
        summary: 'Accept scores above the maximum; a column extraCredit does so row by row',
      },
    },
    system: {
      flag: {
        name: 'from',
        kind: 'text',
        placeholder: 'kind',
        summary: 'Read the grades of the system of this integration instead of a file',
        choices: readableKinds,
      },
      open: async (context, kind) => {
        const { openIntegrationGrades } = await import('../roster/integration-source.ts')
        return openIntegrationGrades(context, kind as LmsKind)
      },
    },
    form: {
      flag: {
        name: 'gradebook',
        kind: 'text',
        placeholder: 'course',
        summary:
          'The file is a gradebook of this course, one row per learner, as grades report, Canvas, Moodle or Open edX export it',
      },
      open: async ({ io }, path, course, mapping) => {
        const { openGradebook } = await import('../records/sources/gradebook-file.ts')
        return openGradebook(io, path, course, mapping)
      },
    },
  }),
  {
    name: 'report',
    hasRows: true,
    summary: 'Report the grades of a course, one row per learner and one column per item',
    writes: [],
    prints: ['GradebookLine[]'],
    description:
      "On a terminal a table with as many items as fit, otherwise CSV; --output and --file choose another format. Columns: learnerId,\nemail, firstName, lastName, externalId, enrollmentStatus, gradePercent, passed, then a column for each item, named\n'name (id)', with percentages; empty without a grade. Only grades that learners see are included, unless --unpublished\nis given; of several sources of an item the newest grade.\n\n--for canvas, moodle or openedx writes the columns that these systems export, with their scales. grades import\n--gradebook reads all of these files, but for those with --pseudonymise, which have no names and addresses.",
    arguments: [
      { name: 'course', summary: 'Course: id or external id', unlisted: ['--course', '--course-id'] },
    ],
    refuses: {
      quiet: 'Print ids with: learnctl grades list --course <course> -q',
      limit: 'A report contains all learners of the course; filter it with --learner or --group',
    },
    flags: [
      ...boundReportFilters.map(({ flag }) => flag),
      systemFlag,
      formatFlag,
      ...pseudonymFlags.filter(({ name }) => name !== timesFlag.name),
      ...targetFlags,
      sheetFlag,
    ],
    examples: [
      'grades report ext:AAA-2014J',
      'grades report ext:AAA-2014J --file aaa-2014j.csv',
      'grades report ext:AAA-2014J --learner ext:65002 -o json',
      'grades report ext:AAA-2014J --for canvas --file canvas.csv',
      'grades report ext:AAA-2014J --pseudonymise --pseudonym-key study.key --file study.csv',
    ],
    run: async (context, given) => {
      const { exportGradebook } = await import('../export/gradebook-export.ts')
      checkChoices([systemFlag], given.flags)
      const system = given.flags[systemFlag.name] as GradebookSystem | undefined
      await exportGradebook(context, given, boundReportFilters, system)
    },
  },
  exportCommand({
    dataset: 'grades',
    people: true,
    query: gradeFlags.filters,
    examples: ['grades export --course ext:AAA-2014J --file all-grades.csv'],
  }),
]

/**
 * Finds a grade by learner and `--course`, and by `--item` and `--source` if there are several. Without these flags
 * the argument is a grade id. Throws a UsageError if it is named incompletely, and a CommandError if none or several
 * match.
 */
async function findGrade(finding: Finding): Promise<Find> {
  return async ({ arguments: { learner = '' }, flags: { course, item, source } }) => {
    if ([course, item, source].every((value) => value === undefined)) return learner
    if (course === undefined) {
      throw new UsageError('--course is required', {
        hint: 'Name a grade by its learner, --course and --item, or by its id alone',
      })
    }
    const { calls } = await import('../../contract/calls.ts')
    const query = {
      learner_id: escapeReference(learner),
      course_id: escapeReference(String(course)),
      ...(item !== undefined && { item_id: item }),
      ...(source !== undefined && { source }),
    }
    const { recordsOf } = await import('../operation/find-named.ts')
    const found = await recordsOf(finding, calls.grades.list, query)
    const [only] = found
    const whose = `learner ${learner} in course ${String(course)}${item === undefined ? '' : ` for ${String(item)}`}`
    if (only === undefined) throw new CommandError('not_found', 'notFound', `No grade of ${whose}`)
    if (found.length === 1) return String(valueAt(only, 'id'))
    throw new CommandError('ambiguous', 'usage', `${pluralise(found.length, 'grade')} of ${whose}`, {
      why: found
        .map(
          (each) => `--item ${String(valueAt(each, 'itemId'))} --source ${String(valueAt(each, 'source'))}`,
        )
        .sort()
        .slice(0, 10),
      hint: item === undefined ? 'Add --item' : 'Add --source',
    })
  }
}
