import type { OutgoingRequest } from '../../client/call-input.ts'
import type { Caller } from '../../client/caller.ts'
import type { Context } from '../command/context.ts'
import { firstRequest, sourceOf, type Wanted } from './export-source.ts'
import { type ExportTarget, expectedRows, writeExport } from './write-export.ts'

/** What to export, in which form, and where to. */
export interface LearnerExport extends Wanted, ExportTarget {}

/** The request that an export begins with, without its credential. */
export function exportRequest(caller: Caller, wanted: LearnerExport): OutgoingRequest {
  const { input, accept } = firstRequest(wanted)
  const request = caller.request(wanted.operation, input)
  return { ...request, headers: { ...request.headers, accept } }
}

/** Exports all rows as they come. */
export async function exportLearners(context: Context, caller: Caller, wanted: LearnerExport): Promise<void> {
  const { operation, query } = wanted
  await writeExport(
    context,
    wanted,
    () => sourceOf(context, caller, wanted),
    () => expectedRows(context, caller, operation, { ...query, summary: 'false' }),
    () => wanted.filter?.assertJudged(),
  )
  await wanted.filter?.note()
}
