import { maxWrites } from '../../contract/foreign-records.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { whileApplying } from '../records/apply-lock.ts'
import { openWriter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import { CommandError, type ExitName, exitCode } from '../terminal/errors.ts'
import { capitalise, firstLines, pluralise } from '../terminal/format-text.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { openAcademyReader } from './academy-reader.ts'
import { Patience } from './pull-records.ts'
import {
  type Compared,
  compareCourse,
  countExtra,
  countedParts,
  countStates,
  readCourse,
  type WantedCourse,
  wantedOf,
} from './push-plan.ts'

interface PushOptions {
  /** Empty for all. */
  readonly courses: readonly string[]
  readonly parts: ReadonlySet<string>
}

const title = 'Google Classroom'
const coursesAtOnce = 4
/** Rounds of comparing and writing: courses, then people and items, then grades. */
const maxRounds = 4
const maxNamed = 10
const maxListed = 1000

/**
 * Makes Classroom have the courses, people and grades of an academy. Each round compares both sides as they are now and
 * writes the records that can be written, so that a run after an interruption continues. At the end both sides are counted again. Throws
 * a CommandError for refused records (exit 8) and for records that differ all the same (exit 9).
 */
export async function pushRoster(context: Context, options: PushOptions): Promise<void> {
  const { output, settings } = context
  const wanted = await readWanted(context, options)
  /** Details of refusals by the name of the record. */
  const refusals = new Map<string, string>()
  let checks = await compareAll(context, wanted.courses, options)
  const planned = differencesIn(checks)
  const isSilent = planned.length === 0 && !context.io.stdout.isTTY && !context.io.stderr.isTTY
  if (settings.output.value === 'table' && !isSilent) await output.text(`${planLines(planned).join('\n')}\n`)
  if (!isSilent) for (const note of [...wanted.notes, ...notesOf(checks)]) await output.note(note)
  if (settings.dryRun.value) {
    if (settings.output.value !== 'table')
      await output.document(documentOf('planned', 'ok', checks, refusals))
    return
  }
  if (planned.length > 0) {
    await confirmAt(context, `write ${pluralise(planned.length, 'record')}`, `to ${title}`)
    // Course work has no key that Classroom would refuse twice: two pushes at once could create it twice.
    await whileApplying(context, context.session, async (held) => {
      for (let round = 0; round < maxRounds; round += 1) {
        // The other push may have written meanwhile.
        checks = await compareAll(held, wanted.courses, options)
        if (!(await writeAll(held, checks, refusals))) break
      }
    })
  }
  await report(context, { checks, refusals, isSilent, count: planned.length })
}

/** Reads the courses that Classroom shall have. Archived courses are not created. */
async function readWanted(
  context: Context,
  { courses, parts }: PushOptions,
): Promise<{ readonly courses: readonly WantedCourse[]; readonly notes: readonly string[] }> {
  const reader = await openWriter(context)
  await requireLearnctl(context.session, reader.caller, 'roster push', context.io.signal)
  const academy = await openAcademyReader(reader, { courses, terms: [] })
  const emails = new Map<string, string>()
  let suspended = 0
  for await (const { key, email, isSuspended } of academy.people()) {
    if (isSuspended) suspended += 1
    else emails.set(key, email)
  }
  const found: WantedCourse[] = []
  let archived = 0
  for await (const contents of academy.contents(parts)) {
    if (contents.course.status === 'archived') archived += 1
    else found.push(wantedOf(contents, emails, parts))
  }
  const notes = [
    ...(archived > 0 ? [`${pluralise(archived, 'archived course')} left out`] : []),
    ...(suspended > 0 ? [`${pluralise(suspended, 'suspended user')} left out`] : []),
  ]
  return { courses: found, notes }
}

interface Checked {
  readonly records: readonly Compared[]
  /** Number of students in Classroom who are not in the academy. */
  readonly extra: number
}

function recordsIn(checks: readonly Checked[]): readonly Compared[] {
  return checks.flatMap(({ records }) => records)
}

function differencesIn(checks: readonly Checked[]): readonly Compared[] {
  return recordsIn(checks).filter(({ state }) => state === 'create' || state === 'update')
}

async function compareAll(
  context: Context,
  courses: readonly WantedCourse[],
  { parts }: PushOptions,
): Promise<readonly Checked[]> {
  const checks: Checked[] = []
  await eachOf([...courses.entries()], async ([index, wanted]) => {
    const found = await readCourse(context, wanted.course.key, parts)
    checks[index] = { records: compareCourse(wanted, found), extra: countExtra(wanted, found) }
  })
  return checks
}

async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(coursesAtOnce, items.length) }, next))
}

/** Writes the records that can be written now, of a course one after the other. Returns false if there are none. */
async function writeAll(
  context: Context,
  checks: readonly Checked[],
  refusals: Map<string, string>,
): Promise<boolean> {
  const possible = checks.map((check) =>
    differencesIn([check]).flatMap(({ write, name }) =>
      write === null || refusals.has(name) ? [] : [{ write, name }],
    ),
  )
  const total = possible.flat().length
  if (total === 0) return false
  const line = await createProgressLine(context.io, 'records', total)
  let done = 0
  try {
    await eachOf(possible, async (records) => {
      for (let from = 0; from < records.length; from += maxWrites) {
        await writeBatch(context, records.slice(from, from + maxWrites), refusals)
        done += Math.min(maxWrites, records.length - from)
        await line.update(done)
      }
    })
    return true
  } finally {
    line.stop()
  }
}

interface NamedWrite extends Pick<Compared, 'name'> {
  readonly write: NonNullable<Compared['write']>
}

/** Sends until no record waits. A record that was written before is not written twice. */
async function writeBatch(
  { session, io }: Context,
  records: readonly NamedWrite[],
  refusals: Map<string, string>,
): Promise<void> {
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  let left = records
  const patience = new Patience(io)
  while (left.length > 0) {
    const body = { records: left.map(({ write }) => write) }
    try {
      const input = { params: { lmsKind: 'classroom' }, body, signal: io.signal }
      const { results, retryAfter } = (await caller.call(calls.integrations.write, input)).data
      const waiting: NamedWrite[] = []
      for (const { index, outcome, detail } of results) {
        const record = left[index]
        if (!record) continue
        if (outcome === 'waiting') waiting.push(record)
        if (outcome === 'refused') refusals.set(record.name, detail ?? '')
      }
      if (waiting.length < left.length) patience.restart()
      left = waiting
      if (left.length === 0) return
      const detail = results.find(({ outcome }) => outcome === 'waiting')?.detail
      const waitMs = Math.max(1, retryAfter) * 1000
      const reason = `${title} takes no more records now: ${detail ?? 'it does not say why'}`
      if (!(await patience.wait(waitMs, reason))) throw stillWaiting(detail)
    } catch (error) {
      await patience.after(error)
    }
  }
}

function stillWaiting(detail: string | null | undefined): CommandError {
  return new CommandError('unavailable', 'unavailable', `${title} does not take more records now`, {
    why: [`It says: ${detail ?? 'nothing'}`],
    hint: 'Run the command again later: it continues',
  })
}

const nouns = { courses: 'course', enrollments: 'enrolment', items: 'item', grades: 'grade' } as const

/** Returns the plan: small ones record by record, then the sums. */
function planLines(differences: readonly Compared[]): readonly string[] {
  if (differences.length === 0) return [`No changes: ${title} has all of it`]
  const byPart = Map.groupBy(differences, ({ part }) => part)
  const named = differences
    .filter(({ part }) => (byPart.get(part) ?? []).length <= maxNamed)
    .map(({ part, name, state }) => `${state === 'create' ? '+' : '~'} ${nouns[part]} ${name}`)
  const sums = countedParts.flatMap((part) => {
    const own = byPart.get(part)
    const made = own?.filter(({ state }) => state === 'create').length
    return own ? [`${pluralise(own.length, nouns[part])} (${made} new)`] : []
  })
  return [...named, `Plan for ${title}: ${sums.join(', ')}; nothing is deleted`]
}

function notesOf(checks: readonly Checked[]): readonly string[] {
  const extra = checks.reduce((sum, check) => sum + check.extra, 0)
  return extra > 0
    ? [`${pluralise(extra, 'student')} of ${title} not in the academy: nothing is deleted`]
    : []
}

interface Pushed {
  readonly checks: readonly Checked[]
  readonly refusals: ReadonlyMap<string, string>
  readonly isSilent: boolean
  readonly count: number
}

async function report(context: Context, { checks, refusals, isSilent, count }: Pushed): Promise<void> {
  const { output, settings } = context
  const left = differencesIn(checks)
  const exit: ExitName = refusals.size > 0 ? 'partial' : left.length > 0 ? 'drift' : 'ok'
  const outcome =
    exit === 'ok' ? (count === 0 ? 'equal' : 'pushed') : exit === 'drift' ? 'different' : 'refused'
  if (settings.output.value !== 'table') await output.document(documentOf(outcome, exit, checks, refusals))
  else if (!isSilent && !settings.quiet.value) await output.text(`${countLines(checks).join('\n')}\n`)
  if (exit === 'ok') {
    if (!isSilent && count > 0) await output.done(`Pushed ${pluralise(count, 'record')} to ${title}`)
    return
  }
  if (exit === 'drift') {
    const many = left.length
    throw new CommandError(
      'different',
      'drift',
      `${pluralise(many, 'record')} still ${many === 1 ? 'differs' : 'differ'}`,
      {
        why: namesOf(left.map(({ part, name }) => `${capitalise(nouns[part])} ${name}`)),
        hint: 'Something else may have changed them meanwhile; run the command again',
      },
    )
  }
  const many = refusals.size
  throw new CommandError('refused', 'partial', `${title} refused ${pluralise(many, 'record')}`, {
    why: namesOf([...refusals].map(([name, detail]) => `${name}: ${detail}`)),
  })
}

function namesOf(lines: readonly string[]): readonly string[] {
  return firstLines(lines, maxNamed, '; -o json lists them')
}

function countLines(checks: readonly Checked[]): readonly string[] {
  const counts = countStates(recordsIn(checks))
  return countedParts.flatMap((part) => {
    const { wanted, equal, invited } = counts[part]
    if (wanted === 0) return []
    const waiting = invited > 0 ? `, ${invited} when invitations are accepted` : ''
    return [`${part}: ${equal} of ${wanted} equal${waiting}`]
  })
}

function documentOf(
  outcome: string,
  exit: ExitName,
  checks: readonly Checked[],
  refusals: ReadonlyMap<string, string>,
): object {
  const left = differencesIn(checks)
  return {
    formatVersion: 1,
    outcome,
    exitCode: exitCode(exit),
    counts: countStates(recordsIn(checks)),
    differenceCount: left.length,
    differences: left.slice(0, maxListed).map(({ part, name, state }) => ({ part, name, action: state })),
    refusedCount: refusals.size,
    refused: [...refusals].slice(0, maxListed).map(([name, detail]) => ({ name, detail })),
  }
}
