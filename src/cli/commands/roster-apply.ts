import { type Argument, type Command, type Given, noColumns, plainText } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, planFlags, requirePlanAlone } from '../command/flag.ts'
import type { Plan } from '../records/plan.ts'
import type { ApplyRosterOptions, RosterReport } from '../roster/apply-roster.ts'
import type { DeclaredRoster, RosterReadOptions } from '../roster/declared-roster.ts'
import { readRosterOptions, rosterFlags, scopeFlags, scopeOf } from '../roster/roster-options.ts'
import { ExitWith, UsageError } from '../terminal/errors.ts'

/** Flags for the label of records, and for records that are gone. */
const pruneFlags = [
  {
    name: 'label',
    kind: 'text',
    placeholder: 'text',
    summary: 'Label (managedBy) of records that the roster creates (default roster:<system or file>)',
  },
  {
    name: 'prune',
    destructive: true,
    kind: 'switch',
    summary:
      'Remove records with the label that the roster lacks: suspend users, archive courses, delete enrolments',
  },
  {
    name: 'delete-users',
    destructive: true,
    kind: 'switch',
    summary: 'Delete users who are removed instead of suspending them',
  },
] as const satisfies readonly Flag[]

const skipInvalidFlag = {
  name: 'skip-invalid',
  kind: 'switch',
  summary: 'Leave out rows with problems (exit 8); cannot be used with --prune',
} as const satisfies Flag

const sourceArgument: Argument = {
  name: 'source',
  file: 'read',
  summary: 'Roster: folder, zip file, CSV file or integration:<kind>; - for a CSV file on standard input',
  optional: true,
  unlisted: ['--file', '-f'],
}

export const diffCommand: Command = {
  name: 'diff',
  summary: 'Compare rosters and academies (exit 9 if they differ)',
  writes: [],
  prints: ['Plan'],
  exits: ['drift'],
  description:
    'With two sides, shows what changes the first into the second. A side is a roster, a profile (profile:<name>) or the\ndatabase of a local academy. With one roster, shows what roster apply would do. Only records and fields that both sides\ncan have are compared; notes name the others. Exits 9 if there are differences, 0 if there are none.',
  arguments: [
    {
      name: 'sides',
      file: 'read',
      summary:
        'One or two of: roster, - (CSV on standard input), integration:<kind>, profile:<name>, database of a local academy',
      rest: true,
    },
  ],
  flags: [...rosterFlags, ...scopeFlags, ...pruneFlags, skipInvalidFlag],
  plansForEmpty: true,
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: [
    'roster diff school.zip',
    'roster diff monday.zip tuesday.zip -o csv',
    'roster diff integration:canvas',
  ],
  run: runDiff,
}

async function runDiff(context: Context, given: Given): Promise<void> {
  const { flags, rest } = given
  checkChoices([...scopeFlags, ...pruneFlags], flags)
  const [first, second, ...others] = rest
  if (first === undefined || others.length > 0) throw new UsageError('Give one or two sides to compare')
  const { io, output } = context
  const report = async (plan: Plan, source: string) => {
    const [{ reportPlan }, { placeIn }] = await Promise.all([
      import('../records/plan.ts'),
      import('../roster/declared-roster.ts'),
    ])
    await reportPlan(io, 'roster diff', plan, (place) => placeIn(source, place))
  }
  const { printDifferences } = await import('../roster/apply-roster.ts')
  if (second === undefined) {
    const { planRoster } = await import('../roster/apply-roster.ts')
    const { plan, notes } = await planRoster(context, await rosterOf(context, given, first))
    await printDifferences(context, plan)
    for (const note of notes) await output.note(note)
    await report(plan, first)
    if (plan.actions.length > 0) throw new ExitWith('drift')
    return
  }
  const unused = pruneFlags.find(({ name }) => flags[name] !== undefined && flags[name] !== false)
  if (unused) throw new UsageError(`--${unused.name} and two sides cannot be used together`)
  const { openSide, compareSides } = await import('../roster/compare-rosters.ts')
  if (first === '-' && second === '-') throw new UsageError('Standard input can be one side only')
  const scope = scopeOf(given.flags)
  const options = await readOptionsOf(context, given, [first, second])
  await context.io.expectGarbage?.()
  const before = await openSide(context, first, scope, options)
  const after = await openSide(context, second, scope, options)
  const { plan, notCompared } = await compareSides(before, after)
  await printDifferences(context, plan)
  for (const note of [...new Set([...before.notes, ...after.notes])]) await output.note(note)
  for (const text of notCompared) await output.note(`Not compared: ${text}`)
  await report(plan, second)
  if (plan.actions.length > 0) throw new ExitWith('drift')
}

export const applyCommand: Command = {
  name: 'apply',
  interruption: 'continues',
  summary: 'Make an academy match a roster',
  writes: ['academy'],
  prints: ['AppliedRoster', 'Plan'],
  exits: ['partial'],
  confirms: true,
  description:
    'Shows the plan and asks before anything is changed; --yes confirms. Users match by external id, else by e-mail address.\nRecords that match are left alone, so an apply that was interrupted continues when it is run again. Grades and progress\nare never removed. At the end it prints the counts of both sides: exit 0 if all records are equal, 8 if some were refused.\nPrints nothing if there was nothing to do and no terminal.',
  arguments: [sourceArgument],
  flags: [
    ...rosterFlags,
    ...scopeFlags,
    ...pruneFlags,
    skipInvalidFlag,
    {
      name: 'max-deletes',
      kind: 'number',
      placeholder: 'count',
      summary: 'Refuse to remove more records than this, suspended and archived ones included (exit 6)',
    },
    {
      name: 'report',
      kind: 'text',
      placeholder: 'path',
      file: 'write',
      summary: 'Write a report to this JSON file',
    },
    ...planFlags,
  ],
  createsAcademy: true,
  plansForEmpty: true,
  refuses: noColumns,
  examples: [
    'roster apply school.zip --dry-run',
    'roster apply school.zip --yes --prune --max-deletes 50 --report report.json',
  ],
  run: runApply,
}

async function runApply(context: Context, given: Given): Promise<void> {
  const { flags } = given
  checkChoices([...scopeFlags, ...pruneFlags], flags)
  const startedAt = new Date(context.io.now()).toISOString()
  let roster: DeclaredRoster | null = null
  let report: RosterReport | null = null
  let fault: unknown = null
  try {
    const source = await sourceOf(context, given)
    if ('roster' in source) roster = source.roster
    const { applyRoster } = await import('../roster/apply-roster.ts')
    await applyRoster(context, given, source, (made) => {
      report = made
    })
  } catch (error) {
    fault = error
    throw error
  } finally {
    if (flags['report'] !== undefined) {
      const { writeReport } = await import('../roster/apply-roster.ts')
      await writeReport(context, String(flags['report']), { startedAt, roster, report, fault })
    }
  }
}

async function sourceOf(context: Context, given: Given) {
  const { flags, arguments: names } = given
  const path = names['source']
  const others = [...rosterFlags, ...scopeFlags, ...pruneFlags, skipInvalidFlag].map(({ name }) => name)
  requirePlanAlone(flags, others, path !== undefined)
  if (flags['plan'] !== undefined) return { plan: String(flags['plan']) }
  if (path === undefined) {
    throw new UsageError('<source> is required', {
      code: 'missing_value',
      hint: 'Name a folder, a zip file or a CSV file: learnctl roster apply roster.zip',
    })
  }
  return rosterOf(context, given, path)
}

async function rosterOf(
  context: Context,
  given: Given,
  path: string,
): Promise<{ readonly roster: DeclaredRoster; readonly options: ApplyRosterOptions }> {
  const { flags } = given
  const prune = flags['prune'] === true
  const read = await readOptionsOf(context, given, [path])
  if (prune && read.skipInvalid) {
    throw new UsageError('--prune and --skip-invalid cannot be used together', {
      why: ['A record whose row has a problem would be removed'],
    })
  }
  const { defaultLabel, readDeclaredRoster } = await import('../roster/declared-roster.ts')
  await context.io.expectGarbage?.()
  const roster = await readDeclaredRoster(context, path, scopeOf(given.flags), read)
  const label = flags['label'] === undefined ? defaultLabel(roster) : String(flags['label'])
  return {
    roster,
    options: { label, prune, deleteUsers: flags['delete-users'] === true, skipInvalid: read.skipInvalid },
  }
}

async function readOptionsOf(
  { io }: Context,
  { flags }: Given,
  sources: readonly string[],
): Promise<RosterReadOptions> {
  return { ...(await readRosterOptions(io, flags, sources)), skipInvalid: flags['skip-invalid'] === true }
}
