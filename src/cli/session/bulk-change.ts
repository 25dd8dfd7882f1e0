import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Change } from '../../contract/changes.ts'
import { changeHeader } from '../../contract/constants.ts'
import type { Transport } from '../../contract/http.ts'
import { isLearnctlServer } from './learnctl-server.ts'

export interface BulkChange {
  readonly command: string
  /** Null for none. */
  readonly source: string | null
  readonly undoes?: string
}

export type ChangeEnd = Exclude<Change['state'], 'running'>

const endWithinMs = 5000

/** Begins with its first write; each write names it, so that it can be undone as a whole. */
export class OpenChange {
  readonly change: BulkChange
  readonly #open: () => Promise<Caller>
  #id: Promise<string | null> | null = null

  /** @param open returns a caller whose requests do not belong to the change */
  constructor(change: BulkChange, open: () => Promise<Caller>) {
    this.change = change
    this.#open = open
  }

  requestsBy(send: Transport): Transport {
    return async (request) => {
      const id = isWrite(request.method) ? await this.begin(request.signal) : null
      const headers = id === null ? request.headers : { ...request.headers, [changeHeader]: id }
      return send({ ...request, headers })
    }
  }

  /** Null if the platform keeps no changes. */
  begin(signal = new AbortController().signal): Promise<string | null> {
    this.#id ??= this.#create(signal).catch((error: unknown) => {
      this.#id = null
      throw error
    })
    return this.#id
  }

  /** Null if it has not begun, or the platform keeps no changes. */
  async id(): Promise<string | null> {
    return this.#id
  }

  /** Does nothing if it has not begun, or the platform cannot be reached. */
  async end(state: ChangeEnd): Promise<void> {
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
    // Another platform may take the request for something else.
    if (!(await isLearnctlServer(caller, signal))) return null
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

function isWrite(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method)
}
