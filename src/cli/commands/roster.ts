import { type Argument, type Command, notAList } from '../command/command.ts'
import { rosterFlags } from '../roster/roster-options.ts'
import { applyCommand, diffCommand } from './roster-apply.ts'
import { rosterExportCommand } from './roster-export.ts'
import { pushCommand } from './roster-push.ts'

const sourceArgument: Argument = {
  name: 'source',
  file: 'read',
  summary:
    'Folder, zip file or CSV file of OneRoster, Canvas SIS, Moodle or Kolibri; - for a CSV file on standard input; or integration:<kind>',
}

export const commands: readonly Command[] = [
  {
    name: 'validate',
    summary: 'Check a roster for problems',
    writes: [],
    prints: ['RosterReport'],
    description:
      'Reads a package of OneRoster 1.1 or 1.2 (bulk or delta), a Canvas SIS import, uploads of Moodle, users of Kolibri, or the\nsystem of an integration (integration:canvas), and reports what it is, the records of each kind, and every problem with its file, line, column and value. Nothing is sent. What is read\nalthough its specification forbids it, and what is left out, is counted in notes. docs/rosters.md says what becomes of each\ncolumn. Exits 2 if there are problems; warnings keep nothing from being read.',
    arguments: [sourceArgument],
    flags: rosterFlags,
    refuses: { ...notAList, quiet: 'The result has no id', dryRun: 'Nothing is sent' },
    examples: ['roster validate school.zip', 'roster validate moodle-users.csv --format moodle -o json'],
    run: async (context, given) => {
      const { validateRoster } = await import('../roster/validate-roster.ts')
      await validateRoster(context, given)
    },
  },
  diffCommand,
  applyCommand,
  rosterExportCommand,
  pushCommand,
]
