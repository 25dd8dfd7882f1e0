import type { CourseInput } from '../../contract/courses.ts'
import { valueAt } from '../../tables/column.ts'
import { type Command, type Given, noColumns, noTarget, plainText } from '../command/command.ts'
import { checkChoices, type Flag, planFlags, requirePlanAlone, textsIn } from '../command/flag.ts'
import { courseFlags } from '../flags/courses.ts'
import { thingName, updatedLine } from '../operation/thing-name.ts'
import { UsageError } from '../terminal/errors.ts'
import { eraseFlag, moveToTrash, withDeleted } from './deletion.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { historyCommands } from './history.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

function withLessons(command: Command): Command {
  return {
    ...command,
    alsoPrints: ['CourseFile'],
    flags: [
      ...(command.flags ?? []),
      {
        name: 'with-lessons',
        kind: 'switch',
        summary: 'Print the course with its lessons as a file for courses apply; requires -o yaml or -o json',
      },
    ],
    run: async (context, given) => {
      if (given.flags['with-lessons'] !== true) return command.run(context, given)
      const { columns, quiet } = context.settings
      if (quiet.value || columns.origin.source === 'flag') {
        const { name } = quiet.value ? quiet.origin : columns.origin
        throw new UsageError(`${name} and --with-lessons cannot be used together`)
      }
      const { printCourse } = await import('../records/sources/course.ts')
      await printCourse(context, given.arguments['course'] ?? '')
    },
  }
}

const fileFlag = {
  name: 'file',
  short: 'f',
  kind: 'texts',
  placeholder: 'path',
  file: 'read',
  summary: 'YAML or JSON file of a course; - for standard input',
} as const satisfies Flag

function filesIn({ flags }: Given): readonly string[] {
  const files = textsIn(flags, 'file')
  if (files.length === 0) throw new UsageError('--file is required', { code: 'missing_value' })
  if (files.filter((file) => file === '-').length > 1) {
    throw new UsageError('--file - can be given once: standard input is read once')
  }
  return files
}

const applyCommand: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Create or update courses and their lessons from files',
  writes: ['academy'],
  prints: ['CoursePlan[]'],
  exits: ['partial'],
  confirms: true,
  description:
    'A file has one course, as courses get --with-lessons prints it. Records that match the file stay untouched.\nLessons are matched by external id, else by title. Lessons that the file lacks are kept, unless --prune.',
  flags: [
    fileFlag,
    {
      name: 'prune',
      kind: 'switch',
      summary: 'Delete the lessons that the file lacks',
      destructive: true,
    },
    ...planFlags,
  ],
  createsAcademy: true,
  refuses: noColumns,
  examples: ['courses apply -f marine-biology.yaml', 'courses apply -f marine-biology.yaml --dry-run'],
  run: async (context, given) => {
    const { flags } = given
    requirePlanAlone(flags, ['prune'], flags[fileFlag.name] !== undefined)
    const files = flags['plan'] === undefined ? filesIn(given) : []
    const { applyFiles } = await import('../records/apply-courses.ts')
    await applyFiles(context, given, files)
  },
}

const validateCommand: Command = {
  name: 'validate',
  summary: 'Check course files for problems, offline',
  writes: [],
  prints: ['ValidCourses'],
  description: 'Reads files as courses apply does, and reports every problem with its line. Nothing is sent.',
  flags: [{ ...fileFlag, required: true }],
  refuses: { ...noTarget, ...plainText, dryRun: 'Nothing is sent' },
  examples: ['courses validate -f marine-biology.yaml'],
  run: async (context, given) => {
    const { validateFiles } = await import('../records/apply-courses.ts')
    await validateFiles(context, filesIn(given))
  },
}

/** Compares courses with their files instead of two versions. */
function withFiles(versions: Command): Command {
  const ownFlags = versions.flags ?? []
  return {
    ...versions,
    alsoPrints: ['CoursePlan[]'],
    summary: 'Compare versions of a course, or courses with files (exit 9 if they differ)',
    description:
      'With --file, shows what `courses apply` would do: + created, ~ changed field by field, - deleted. Nothing is changed.',
    arguments: (versions.arguments ?? []).map((argument) => ({ ...argument, instead: [fileFlag.name] })),
    flags: [
      ...ownFlags,
      { ...fileFlag, summary: 'Compare with this YAML or JSON file of a course; - for standard input' },
      { name: 'prune', kind: 'switch', summary: 'With --file: also show the lessons that the file lacks' },
    ],
    examples: [...(versions.examples ?? []), 'courses diff -f marine-biology.yaml'],
    run: async (context, given) => {
      const { flags, arguments: names } = given
      if (flags[fileFlag.name] === undefined) {
        if (flags['prune'] === true) throw new UsageError('--prune requires --file')
        return versions.run(context, given)
      }
      const { columns, quiet, dryRun } = context.settings
      const others = [
        ...Object.keys(names).map((name) => `<${name}>`),
        ...ownFlags.filter(({ name }) => flags[name] !== undefined).map(({ name }) => `--${name}`),
        ...[columns, quiet].filter(({ origin }) => origin.source === 'flag').map(({ origin }) => origin.name),
        ...(dryRun.value ? [dryRun.origin.name] : []),
      ]
      const [other] = others
      if (other !== undefined) throw new UsageError(`${other} and --file cannot be used together`)
      const { diffFiles } = await import('../records/apply-courses.ts')
      await diffFiles(context, filesIn(given), flags['prune'] === true)
    },
  }
}

const copyFlags = [
  {
    name: 'to-profile',
    kind: 'text',
    summary: 'Profile of the academy that gets the copy (default the same academy)',
  },
  { name: 'title', kind: 'text', summary: 'Title of the copy (default that of the course)' },
  {
    name: 'external-id',
    kind: 'text',
    summary: 'Your own id for the copy (default none, with --to-profile that of the course)',
  },
  {
    name: 'lesson-ids',
    kind: 'text',
    placeholder: 'rule',
    summary:
      'External ids of its lessons: a pattern such as 2027-{id}, or text to replace such as 2026=2027 (default none, with --to-profile as they are)',
  },
  {
    name: 'term',
    kind: 'text',
    placeholder: 'term',
    summary: 'Term of the copy: id, external id or name; none for no term (default that of the course)',
  },
  {
    name: 'keep-dates',
    kind: 'switch',
    summary: 'Leave due dates as they are in another term',
  },
  {
    name: 'status',
    kind: 'text',
    summary: 'Status of the copy',
    choices: ['draft', 'published', 'archived'],
    default: 'draft',
  },
] as const satisfies readonly Flag[]

const copyCommand: Command = {
  name: 'copy',
  summary: 'Copy a course with its lessons',
  writes: ['academy'],
  prints: ['Course', 'CoursePlan'],
  exits: ['partial'],
  description:
    'Lessons keep their external ids in another academy; in the same one they get none, as each is there once, unless\n--lesson-ids says how to make new ones. Lessons without an external id get none. Enrolments, progress and grades are not copied.\nIn another term (--term), due dates move by the days between the first days of both terms.',
  arguments: [{ name: 'course', summary: 'Course: id or external id' }],
  flags: copyFlags,
  refuses: noColumns,
  examples: [
    'courses copy ext:AAA-2014J --title "Next year" --external-id AAA-2015J',
    'courses copy ext:BIO-201 --external-id BIO-2027 --term 2027S --lesson-ids bio=bio-2027',
  ],
  run: async (context, { arguments: names, flags }) => {
    checkChoices(copyFlags, flags)
    const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]))
    const { copyCourse } = await import('../records/copy-course.ts')
    await copyCourse(context, names['course'] ?? '', {
      toProfile: text('to-profile'),
      title: text('title'),
      externalId: text('external-id'),
      lessonIds: text('lesson-ids'),
      term: text('term'),
      keepDates: flags['keep-dates'] === true,
      status: text('status'),
    })
  },
}

const contract = async () => (await import('../../contract/calls.ts')).calls.courses

const argument = { name: 'course', summary: 'Course: id or external id' }
const columns = ['title', 'status', 'difficulty', 'version', 'updatedAt', 'externalId', 'id']
const updateColumns = ['id', 'version', 'previousVersion', 'modifiedAttributes']

const course = recordCommands({ operations: contract, argument, columns, ...courseFlags })

/** `Updated course Marine Biology (BIO-101), version 3`, or that nothing changed. */
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
      filters: courseFlags.deletedFilters,
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
    versionFilters: courseFlags.versionFilters,
    updateColumns,
    columns,
    example: 'ext:first-course',
    updated: updatedText,
  }).map((command) => (command.name === 'diff' ? withFiles(command) : command)),
  applyCommand,
  validateCommand,
  copyCommand,
  importCommand({ dataset: 'courses', nouns: 'courses', examples: ['courses import courses.csv'] }),
  exportCommand({
    dataset: 'courses',
    query: oldestFirst(courseFlags.filters),
    examples: ['courses export --file all-courses.csv', 'courses export --all-columns -o json'],
  }),
]
