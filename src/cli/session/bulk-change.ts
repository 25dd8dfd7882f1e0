import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import { isOwnReply } from '../../client/reply.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Change } from '../../contract/changes.ts'
import { changeHeader } from '../../contract/constants.ts'
import type { Transport } from '../../contract/http.ts'

/** Command and source of a change of many records. */
export interface BulkChange {
  /** Noun and verb: `users import`. */
  readonly command: string
  /** Name of the file or group that it is made from; null for none. */
  readonly source: string | null
  /** Id of the change that it undoes. */
  readonly undoes?: string
}

export type ChangeEnd = Exclude<Change['state'], 'running'>

/** An action on one record; `before` has the values that the program had read. */
export interface JournalAction {
  readonly noun: string
  /** Verb of the action: `created`, `updated`, `deleted`. */
  readonly verb: string
  /** Null for a record that cannot be found again. */
  readonly id: string | null
  readonly name: string | null
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

/** Journal on this machine of the actions of a change, for a platform that keeps no changes. */
export interface ChangeNotes {
  readonly header: { readonly id: string }
  add(action: JournalAction): void
  end(state: ChangeEnd): void
}

/** Time to wait for a platform to note the end of a change. */
const endWithinMs = 5000

/**
 * A change of many records on a platform. It begins with the first write of its requests; each of them then names it, so
 * that it can be undone as a whole.
 */
export class OpenChange {
  readonly change: BulkChange
  readonly #open: () => Promise<Caller>
  /** True once the platform has shown that it is a server of this API, null before its first response. */
  #isOurs: boolean | null
  #id: Promise<string | null> | null = null
  /** Opens the journal on this machine, for a platform that keeps no changes. */
  readonly #openJournal: () => ChangeNotes
  #journal: ChangeNotes | null = null

  /**
   * @param open returns a caller whose requests do not belong to the change
   * @param isLocal true for an academy in this process
   */
  constructor(
    change: BulkChange,
    open: () => Promise<Caller>,
    isLocal: boolean,
    openJournal: () => ChangeNotes,
  ) {
    this.change = change
    this.#open = open
    this.#isOurs = isLocal || null
    this.#openJournal = openJournal
  }

  /** Returns a transport whose writes belong to the change. */
  requestsBy(send: Transport): Transport {
    return async (request) => {
      const id = isWrite(request.method) ? await this.begin(request.signal) : null
      const headers = id === null ? request.headers : { ...request.headers, [changeHeader]: id }
      const reply = await send({ ...request, headers })
      this.#isOurs ||= isOwnReply(reply)
      return reply
    }
  }

  /** Begins the change unless it has begun. Returns its id; null if the platform keeps no changes. */
  begin(signal = new AbortController().signal): Promise<string | null> {
    this.#id ??= this.#create(signal).catch((error: unknown) => {
      this.#id = null
      throw error
    })
    return this.#id
  }

  /** Notes what was done to a record, unless the platform does so; called after the write. */
  async note(action: () => JournalAction): Promise<void> {
    if ((await this.begin()) !== null) return
    this.#journal ??= this.#openJournal()
    this.#journal.add(action())
  }

  /** True if the platform keeps no changes, so that what is done has to be noted here. */
  async isNoted(): Promise<boolean> {
    return (await this.begin()) === null
  }

  /** Id of the change, on the platform or in the journal; null if it has not begun. */
  async id(): Promise<string | null> {
    return (await this.#id) ?? this.#journal?.header.id ?? null
  }

  /** Tells the platform how the change ended; does nothing if it has not begun, or the platform cannot be reached. */
  async end(state: ChangeEnd): Promise<void> {
    this.#journal?.end(state)
    try {
      const changeId = await this.#id
      if (!changeId) return
      const signal = AbortSignal.timeout(endWithinMs)
      await (await this.#open()).call(calls.changes.end, { params: { changeId }, body: { state }, signal })
    } catch {
      // The change stays open; it can be undone all the same.
    }
  }

  async #create(signal: AbortSignal): Promise<string | null> {
    const { create } = calls.changes
    const caller = await this.#open()
    if (this.#isOurs === null) {
      await caller.call(calls.service.health, { signal }).catch(ignoreRefusal)
      this.#isOurs = caller.isOurs()
    }
    // Another platform may take the request for something else.
    if (!this.#isOurs) return null
    try {
      const { data } = await caller.call(create, { body: this.change, signal })
      return isJsonObject(data) ? String(data['id']) : null
    } catch (error) {
      // A server of an earlier version, or one where the caller cannot change many records anyway.
      if (error instanceof NotOfferedError) return null
      if (error instanceof ApiError && [403, 404, 405].includes(error.status)) return null
      throw error
    }
  }
}

/** Ignores that a platform has no health check: its response shows whether it is a server of this API. */
function ignoreRefusal(error: unknown): void {
  if (error instanceof ApiError || error instanceof NotOfferedError || error instanceof ProtocolError) return
  throw error
}

function isWrite(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method)
}
