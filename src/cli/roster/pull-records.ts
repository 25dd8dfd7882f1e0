import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import type { LmsKind, RecordPart } from '../../contract/constants.ts'
import type { ForeignRecords } from '../../contract/foreign-records.ts'
import type { Context } from '../command/context.ts'
import { withSources } from '../operation/refused-call.ts'
import { type Io, note } from '../terminal/io.ts'
import { createProgressLine } from '../terminal/progress-line.ts'

type Page = ForeignRecords
export type PulledRecord = Page['data'][number]

export type PulledRecords = Awaited<ReturnType<Pull['run']>>

interface Task {
  readonly part: RecordPart
  readonly of: string | null
  readonly cursor: string | null
}

/** Reads as many pages at once as the other system allows. `courses` are external ids or titles; none for all. */
export async function pullRecords(
  { session, io }: Pick<Context, 'session' | 'io'>,
  kind: LmsKind,
  wanted: ReadonlySet<RecordPart>,
  courses: readonly string[] = [],
): Promise<PulledRecords> {
  const caller = await session.caller()
  const line = await createProgressLine(io, 'pages', null)
  let done = 0

  async function read(task: Task): Promise<Page> {
    const page = await readPage(caller, io, kind, task)
    done += 1
    await line.update(done)
    return page
  }

  try {
    return await new Pull(wanted, courses, read).run()
  } catch (error) {
    throw withNextStep(error)
  } finally {
    line.stop()
  }
}

/** Waits if the other system asks for it. */
export async function readPage(
  caller: Caller,
  io: Io,
  kind: LmsKind,
  { part, of, cursor }: Task,
): Promise<Page> {
  const { calls } = await import('../../contract/calls.ts')
  const query = { part, ...(of !== null && { of }), ...(cursor !== null && { cursor }) }
  const patience = new Patience(io)
  for (;;) {
    try {
      const input = { params: { lmsKind: kind }, query, signal: io.signal }
      return (await caller.call(calls.integrations.records, input)).data
    } catch (error) {
      await patience.after(error)
    }
  }
}

/** Adds the command to continue with to a refusal: set the integration up, or check it. */
function withNextStep(error: unknown): unknown {
  const sources = { fields: [], query: [], positions: [] }
  return withSources(error, sources, { arguments: {}, flags: {}, rest: [] })
}

/** Limit without progress: a system that fails each time is not waited for. */
const maxWaitMs = 15 * 60 * 1000
const maxWaits = 10
/** Shorter waits are not noted. */
const minNotedMs = 2000

/** Runs that were told that they wait, by their standard error. */
const noted = new WeakSet<object>()

/** Waits as long as a person may want to. */
export class Patience {
  readonly #io: Pick<Io, 'sleep' | 'signal' | 'stderr'>
  #waitedMs = 0
  #waits = 0

  constructor(io: Pick<Io, 'sleep' | 'signal' | 'stderr'>) {
    this.#io = io
  }

  /** Throws the error if it does not ask to wait, or for too long. */
  async after(error: unknown): Promise<void> {
    const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
    const waitMs = isBusy ? (error.retryAfterMs ?? 0) : 0
    if (waitMs <= 0 || !(await this.wait(waitMs, (error as ApiError).message))) throw error
  }

  /** Notes the reason the first time. Returns false for a wait too many or too long. */
  async wait(waitMs: number, reason: string): Promise<boolean> {
    if (this.#waits >= maxWaits || this.#waitedMs + waitMs > maxWaitMs) return false
    this.#waits += 1
    this.#waitedMs += waitMs
    const { stderr } = this.#io
    if (waitMs >= minNotedMs && !noted.has(stderr)) {
      noted.add(stderr)
      const limit = `for up to ${maxWaitMs / 60_000} minutes`
      await note(
        this.#io,
        `${reason.replace(/\.$/, '')}; waiting ${Math.ceil(waitMs / 1000)} s, and again ${limit} if it asks to`,
      )
    }
    await this.#io.sleep(waitMs, this.#io.signal)
    return true
  }

  restart(): void {
    this.#waitedMs = 0
    this.#waits = 0
  }
}

class Pull {
  readonly #wanted: ReadonlySet<RecordPart>
  /** External ids or titles; none for all. */
  readonly #only: readonly string[]
  readonly #read: (task: Task) => Promise<Page>
  readonly #tasks: Task[] = []
  readonly #records = new Map<RecordPart, PulledRecord[]>()
  readonly #courses = new Map<string, Record<string, unknown>>()
  /** Number of records by note. */
  readonly #notes = new Map<string, number>()
  readonly #hidden = new Set<RecordPart>()
  /** Parts that the token may list by course only. */
  readonly #byCourse = new Set<RecordPart>()
  readonly #added = new Set<string>()
  #lists: Page['lists'] = []
  #system = ''
  #atOnce = 1

  constructor(wanted: ReadonlySet<RecordPart>, only: readonly string[], read: (task: Task) => Promise<Page>) {
    this.#wanted = wanted
    this.#only = only
    this.#read = read
  }

  async run() {
    // Every system has courses; its first page names its other lists.
    const first: Task = { part: 'courses', of: null, cursor: null }
    const page = await this.#read(first)
    this.#lists = page.lists.filter(({ part, gives }) =>
      [part, ...gives].some((each) => this.#wanted.has(each)),
    )
    this.#system = page.system
    for (const { part, of } of this.#lists) {
      if (of === null && part !== 'courses') this.#tasks.push({ part, of, cursor: null })
    }
    this.#take(first, page)
    await this.#work()
    return {
      system: this.#system,
      parts: new Set(page.lists.flatMap(({ part, gives }) => [part, ...gives])),
      records: this.#records,
      notes: this.#notes,
      hidden: this.#hidden,
      /** False for a system that shows people by course only. */
      listsPeople: page.lists.some(
        ({ part, of, gives }) => of === null && [part, ...gives].includes('users'),
      ),
    }
  }

  /** Includes tasks that pages add. */
  async #work(): Promise<void> {
    const running = new Set<Promise<unknown>>()
    while (this.#tasks.length > 0 || running.size > 0) {
      const task = running.size < this.#atOnce ? this.#tasks.shift() : undefined
      if (!task) await Promise.race(running)
      else {
        const reading = this.#read(task).then((page) => {
          running.delete(reading)
          this.#take(task, page)
        })
        running.add(reading)
      }
    }
  }

  #take(task: Task, page: Page): void {
    this.#atOnce = Math.max(1, page.requestsAtOnce)
    for (const { text, count, hides } of page.notes) {
      this.#notes.set(text, (this.#notes.get(text) ?? 0) + count)
      if (hides !== null) this.#hidden.add(hides)
    }
    for (const record of page.data) this.#keep(record)
    const { nextCursor } = page
    if (nextCursor !== null) this.#tasks.unshift({ ...task, cursor: nextCursor })
    this.#askBelow(task, page)
  }

  /** Adds the fields of a course that an earlier page had to that record. */
  #keep(record: PulledRecord): void {
    const { part, id } = record
    const course = part === 'courses' && id !== null ? this.#courses.get(id) : undefined
    if (course) {
      Object.assign(course, record.record)
      return
    }
    // A course that is not read shows none of its learners.
    if (part === 'courses' && !this.#isWanted(record.record)) delete record.record['learnerCount']
    const known = this.#records.get(part)
    if (known) known.push(record)
    else this.#records.set(part, [record])
    if (part === 'courses' && id !== null) this.#courses.set(id, record.record)
  }

  #askBelow({ part, of }: Task, page: Page): void {
    if (page.byCourse && !this.#byCourse.has(part)) {
      this.#byCourse.add(part)
      for (const course of this.#records.get('courses') ?? []) this.#add(part, course)
    }
    if (of !== null || (part !== 'courses' && part !== 'groups')) return
    const below = this.#lists.filter((list) => list.of === part)
    for (const record of page.data.filter((each) => each.part === part)) {
      for (const list of below) this.#add(list.part, record)
      if (part === 'courses') for (const each of this.#byCourse) this.#add(each, record)
    }
  }

  #add(part: RecordPart, { part: above, id, record }: PulledRecord): void {
    const key = `${part} ${above} ${id}`
    if (id === null || this.#added.has(key)) return
    if (above === 'courses' && !this.#isWanted(record)) return
    this.#added.add(key)
    this.#tasks.push({ part, of: id, cursor: null })
  }

  #isWanted({ externalId, title }: Record<string, unknown>): boolean {
    const names = [externalId, `ext:${externalId}`, title]
    return this.#only.length === 0 || names.some((name) => this.#only.includes(String(name)))
  }
}
