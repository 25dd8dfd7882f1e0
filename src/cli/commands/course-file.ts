import { checkChoices } from '../command/choices.ts'
import type { Command } from '../command/command.ts'
import type { Flag } from '../command/flag.ts'
import { noColumns } from '../command/refusals.ts'
import { UsageError } from '../terminal/errors.ts'

/** The command that shows a course, with `--with-lessons`: the course as one document. */
export function withLessons(command: Command): Command {
  return {
    ...command,
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
      const { printCourse } = await import('../course-file/print-course.ts')
      await printCourse(context, given.arguments['course'] ?? '')
    },
  }
}

/** `courses apply`: makes courses what their files say. */
export const applyCommand: Command = {
  name: 'apply',
  summary: 'Create or update courses and their lessons from files',
  description:
    'A file has one course, as courses get --with-lessons prints it. What is already as in the file stays untouched.\nLessons are found by external id, else by title. Lessons that the file lacks are kept, unless --prune.',
  flags: [
    {
      name: 'file',
      short: 'f',
      kind: 'texts',
      placeholder: 'path',
      summary: 'YAML or JSON file of a course; - for standard input',
      required: true,
    },
    { name: 'prune', kind: 'switch', summary: 'Delete the lessons that the file lacks' },
  ],
  refuses: noColumns,
  examples: ['courses apply -f marine-biology.yaml', 'courses apply -f marine-biology.yaml --dry-run'],
  run: async (context, { flags }) => {
    const files = Array.isArray(flags['file']) ? flags['file'].map(String) : []
    if (files.length === 0) throw new UsageError('--file is required', { code: 'missing_value' })
    if (files.filter((file) => file === '-').length > 1) {
      throw new UsageError('--file - can be given once: standard input is read once')
    }
    const { applyFiles } = await import('../course-file/apply-files.ts')
    await applyFiles(context, files, flags['prune'] === true)
  },
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
    name: 'status',
    kind: 'text',
    summary: 'Status of the copy',
    choices: ['draft', 'published', 'archived'],
    default: 'draft',
  },
] as const satisfies readonly Flag[]

/** `courses copy`: a course like another one, with its lessons. */
export const copyCommand: Command = {
  name: 'copy',
  summary: 'Copy a course with its lessons',
  description:
    'Lessons keep their external ids in another academy; in the same one they get none, as each is there once.\nEnrolments, progress and grades are not copied.',
  arguments: [{ name: 'course', summary: 'Course: id or external id' }],
  flags: copyFlags,
  refuses: noColumns,
  examples: ['courses copy ext:AAA-2014J --title "Next year" --external-id AAA-2015J'],
  run: async (context, { arguments: names, flags }) => {
    checkChoices(copyFlags, flags)
    const text = (name: string) => (flags[name] === undefined ? undefined : String(flags[name]))
    const { copyCourse } = await import('../course-file/copy-course.ts')
    await copyCourse(context, names['course'] ?? '', {
      toProfile: text('to-profile'),
      title: text('title'),
      externalId: text('external-id'),
      status: text('status'),
    })
  },
}
