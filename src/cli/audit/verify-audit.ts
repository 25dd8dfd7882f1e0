import { isJsonObject } from '../../codec/json-text.ts'
import { platformName } from '../../config/target.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import { calls } from '../../contract/calls.ts'
import { maxPageSize } from '../../contract/constants.ts'
import type { Context } from '../command/context.ts'
import { showRequest } from '../operation/dry-run.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { pluralise } from '../terminal/format-text.ts'
import { createProgressLine } from '../terminal/progress-line.ts'
import { type ChainBreak, type ChainReport, createChainCheck } from './chain-check.ts'

const fields = ['entries', 'erased', 'unlinked', 'from', 'to', 'place', 'hash']
const shape = { table: fields, paths: fields }
const { list } = calls.audit

/**
 * Checks the audit log and prints the hash of its last entry. Throws a CommandError if an entry does not
 * match its hash, or an expected hash is missing.
 */
export async function verifyAudit(context: Context, expected: readonly string[] = []): Promise<void> {
  const { io, output, session, settings } = context
  output.check(shape)
  const invalid = expected.find((text) => !/^[0-9a-f]{64}$/i.test(text))
  if (invalid !== undefined)
    throw new UsageError(`--expect must be a hash of 64 hexadecimal digits, not ${invalid}`)
  const caller = await session.caller()
  const input = { query: { sort: 'place' as const, limit: maxPageSize } }
  if (settings.dryRun.value) return showRequest(context, caller.request(list, input))
  const check = createChainCheck(expected)
  const line = await createProgressLine(io, 'entries', null)
  try {
    for await (const { data } of caller.pages(list, { ...input, signal: io.signal })) {
      for (const entry of data) check.add(entryOf(entry, platformName(session.target())))
      await line.update(check.report().entries)
    }
  } finally {
    line.stop()
  }
  const report = check.report()
  assertIntact(report)
  const { entries, erased, unlinked, from, to, place, hash } = report
  await output.one({ entries, erased, unlinked, from, to, place, hash }, shape)
  await output.done(`Verified ${pluralise(place, 'entry')}: none was changed, inserted or removed`)
  if (unlinked > 0) {
    await output.note(`${pluralise(unlinked, 'entry')} not linked yet; the server does so within seconds`)
  }
  if (erased > 0) await output.note(`The details of ${pluralise(erased, 'entry')} were erased with a user`)
}

function assertIntact({ breaks, broken, missing, place }: ChainReport): void {
  if (broken === 0 && missing.length === 0) return
  const lost = missing.map(
    (hash) => `No entry has the hash ${hash}: the log was cut off, or written anew, after it was noted down`,
  )
  const more = broken > breaks.length ? [`… and ${broken - breaks.length} more`] : []
  const why = [...breaks.map(lineOf), ...more, ...lost]
  throw new CommandError('audit_broken', 'failure', headOf(breaks, broken, place), { why, details: breaks })
}

function headOf([first]: readonly ChainBreak[], broken: number, place: number): string {
  if (!first) return `The audit log ends at place ${place} without the expected hash`
  const at = first.id === null ? '' : ` at ${first.id}`
  return `The audit log was tampered with${at}: ${pluralise(broken, 'problem')} found`
}

function lineOf({ place, id, reason }: ChainBreak): string {
  if (id === null) return reason
  return `Entry ${place === null ? '' : `${place} `}(${id}): ${reason}`
}

/** Validates that an item has a hash. Throws a CommandError. */
function entryOf(item: unknown, host: string): AuditEntry {
  const shows =
    isJsonObject(item) &&
    'aboutId' in item &&
    ['id', 'at', 'originDigest', 'detailsDigest'].every((name) => typeof item[name] === 'string')
  // The hash covers the other fields, so they need no validation.
  if (shows) return item as unknown as AuditEntry
  throw new CommandError('not_offered', 'failure', `${host} does not show the hashes of its audit log`)
}
