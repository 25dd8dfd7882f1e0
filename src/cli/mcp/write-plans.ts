import { createHash, randomBytes } from 'node:crypto'
import { type JsonObject, jsonText } from '../../codec/json-text.ts'
import { CommandError } from '../terminal/errors.ts'

export const planMs = 10 * 60 * 1000

/** Everything that must be the same when a plan is confirmed. */
interface PlannedWrite {
  readonly argv: readonly string[]
  /** Platform or database, with the profile. */
  readonly target: string
  readonly fileDigests: readonly string[]
}

interface Planned {
  /** Digest of what the dry run printed; null if it prints the time. */
  readonly preview: string | null
  readonly steps: number
  /** Records that the command line names, as the assistant sees them. */
  readonly affected: readonly JsonObject[]
}

interface Plan extends Planned {
  readonly content: string
  readonly expiresMs: number
}

/** Plans of writes that wait for their confirmation, by digest. */
export class WritePlans {
  readonly #plans = new Map<string, Plan>()

  /** Keeps a plan and returns its digest, which cannot be made from the command line alone. */
  add(write: PlannedWrite, planned: Planned, nowMs: number): string {
    for (const [digest, { expiresMs }] of this.#plans) {
      if (expiresMs <= nowMs) this.#plans.delete(digest)
    }
    const content = contentOf(write)
    const digest = createHash('sha256').update(randomBytes(32)).update(content).digest('hex').slice(0, 32)
    this.#plans.set(digest, { ...planned, content, expiresMs: nowMs + planMs })
    return digest
  }

  /**
   * Returns the plan of a digest. Throws a CommandError if there is none, it has expired, or it is for another command
   * line, platform or content of files.
   */
  find(digest: string, write: PlannedWrite, nowMs: number): Planned {
    const plan = this.#plans.get(digest)
    if (!plan) {
      throw refusal('There is no plan with this digest', 'A digest works once, in the process that made it')
    }
    if (plan.expiresMs <= nowMs) throw refusal('The plan has expired', 'A plan is kept for 10 minutes')
    if (plan.content !== contentOf(write)) {
      throw refusal(
        'The plan is for something else',
        'The words of argv, the platform and the content of files must be the same',
      )
    }
    return plan
  }

  use(digest: string): void {
    this.#plans.delete(digest)
  }
}

export function refusal(message: string, why: string): CommandError {
  return new CommandError('not_confirmed', 'conflict', `${message}; nothing was changed`, {
    why: [why],
    hint: 'Call run without confirm for a new plan',
  })
}

export function previewDigest(records: unknown): string {
  return createHash('sha256').update(jsonText(records)).digest('hex')
}

function contentOf({ argv, target, fileDigests }: PlannedWrite): string {
  return jsonText([argv, target, fileDigests])
}
