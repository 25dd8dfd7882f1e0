import type { LmsKind, RecordPart } from '../../contract/constants.ts'
import type { ForeignRecords } from '../../contract/foreign-records.ts'
import type { Context } from '../command/context.ts'

type Page = ForeignRecords
type ForeignRecord = Page['data'][number]

/** Records of another system, as it has them. */
export interface PulledRecords {
  /** Name of the system. */
  readonly system: string
  /** Kinds of records that it has. */
  readonly parts: ReadonlySet<RecordPart>
  readonly records: ReadonlyMap<RecordPart, readonly ForeignRecord[]>
  /** What was left out or is not visible, with counts. */
  readonly notes: ReadonlyMap<string, number>
  /** Kinds of records of which some are not visible. */
  readonly hidden: ReadonlySet<RecordPart>
}

/** A page to read. */
interface Task {
  readonly part: RecordPart
  readonly of: string | null
  readonly cursor: string | null
}

/**
 * Reads the records of these kinds from another system, through the integration of the academy or platform: as many pages
 * at once as the other system allows.
 */
export async function pullRecords(
  { session, io }: Context,
  kind: LmsKind,
  wanted: ReadonlySet<RecordPart>,
): Promise<PulledRecords> {
  const [{ calls }, caller] = await Promise.all([import('../../contract/calls.ts'), session.caller()])
  const operation = calls.integrations.records

  async function read({ part, of, cursor }: Task): Promise<Page> {
    const query = { part, ...(of !== null && { of }), ...(cursor !== null && { cursor }) }
    const { data } = await caller.call(operation, { params: { lmsKind: kind }, query, signal: io.signal })
    return data
  }

  return new Pull(wanted, read).run()
}

class Pull {
  readonly #wanted: ReadonlySet<RecordPart>
  readonly #read: (task: Task) => Promise<Page>
  readonly #tasks: Task[] = []
  readonly #records = new Map<RecordPart, ForeignRecord[]>()
  readonly #notes = new Map<string, number>()
  readonly #hidden = new Set<RecordPart>()
  /** Kinds of records that the token may list by course only. */
  readonly #byCourse = new Set<RecordPart>()
  #lists: Page['lists'] = []
  #system = ''
  #atOnce = 1

  constructor(wanted: ReadonlySet<RecordPart>, read: (task: Task) => Promise<Page>) {
    this.#wanted = wanted
    this.#read = read
  }

  async run(): Promise<PulledRecords> {
    // Every system has courses; its first page says what else it has.
    const first: Task = { part: 'courses', of: null, cursor: null }
    const page = await this.#read(first)
    this.#lists = page.lists
    this.#system = page.system
    for (const { part, of } of page.lists) {
      if (of === null && part !== 'courses' && this.#wanted.has(part))
        this.#tasks.push({ part, of, cursor: null })
    }
    this.#take(first, page)
    await this.#work()
    return {
      system: this.#system,
      parts: new Set(this.#lists.map(({ part }) => part)),
      records: this.#records,
      notes: this.#notes,
      hidden: this.#hidden,
    }
  }

  /** Reads all tasks, also those that pages add. */
  #work(): Promise<void> {
    return new Promise((resolve, reject) => {
      let running = 0
      let failed = false
      const next = () => {
        if (failed) return
        if (running === 0 && this.#tasks.length === 0) return resolve()
        while (running < this.#atOnce) {
          const task = this.#tasks.shift()
          if (!task) return
          running += 1
          this.#read(task).then(
            (page) => {
              running -= 1
              this.#take(task, page)
              next()
            },
            (error) => {
              failed = true
              reject(error)
            },
          )
        }
      }
      next()
    })
  }

  #take(task: Task, page: Page): void {
    const { part, of } = task
    this.#atOnce = Math.max(1, page.requestsAtOnce)
    for (const { text, count, hides } of page.notes) {
      this.#notes.set(text, (this.#notes.get(text) ?? 0) + count)
      if (hides !== null) this.#hidden.add(hides)
    }
    for (const record of page.data) {
      const known = this.#records.get(record.part)
      if (known) known.push(record)
      else this.#records.set(record.part, [record])
    }
    if (page.nextCursor !== null) this.#tasks.unshift({ ...task, cursor: page.nextCursor })
    if (page.byCourse && !this.#byCourse.has(part)) {
      this.#byCourse.add(part)
      for (const { id } of this.#records.get('courses') ?? []) this.#add(part, id)
    }
    if (of !== null || (part !== 'courses' && part !== 'groups')) return
    const below = this.#lists.filter((list) => list.of === part && this.#wanted.has(list.part))
    for (const record of page.data.filter((each) => each.part === part)) {
      for (const list of below) this.#add(list.part, record.id)
      if (part === 'courses') for (const each of this.#byCourse) this.#add(each, record.id)
    }
  }

  #add(part: RecordPart, of: string | null): void {
    if (of !== null) this.#tasks.push({ part, of, cursor: null })
  }
}
