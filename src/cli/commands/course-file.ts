import type { Command } from '../command/command.ts'
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
