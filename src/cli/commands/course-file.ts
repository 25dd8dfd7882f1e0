import type { Command } from '../command/command.ts'
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
