import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { calls } from '../../contract/calls.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { thingName } from '../operation/thing-name.ts'
import { hasChosenForm } from '../output/output.ts'
import { CommandError } from '../terminal/errors.ts'
import { firstLines, pluralise } from '../terminal/format-text.ts'
import { batchSize, openWriter, type Writer, writeBatch } from './write.ts'

interface Refused {
  readonly userId: unknown
  readonly userEmail: unknown
  readonly code: string
  readonly message: string
}

/** `body` has the course. Prints counts or ids. Throws a CommandError that lists the refused members. */
export async function enrollGroup(context: Context, group: string, body: JsonObject): Promise<void> {
  const { io, output, settings } = context
  const change = { command: 'enrollments create', source: `group ${group}` }
  const writing = await openWriter(context, 1, change)
  const { caller } = writing
  const { signal } = io
  const { data: shown } = await caller.call(calls.groups.get, { params: { groupId: group }, signal })
  const params = { courseId: String(body['courseId']) }
  const { data: course } = await caller.call(calls.courses.get, { params, signal })
  const names = `of group ${thingName(shown)} in course ${thingName(course)}`
  const members = await membersOf(writing, group)
  if (settings.dryRun.value) {
    return output.text(`Would enrol ${pluralise(members.length, 'member')} ${names}\n`)
  }
  const counts = { enrolled: 0, alreadyEnrolled: 0 }
  const ids: string[] = []
  const refused: Refused[] = []
  const dataset = await loadDataset('enrollments')
  for (let from = 0; from < members.length; from += batchSize.records) {
    const some = members.slice(from, from + batchSize.records)
    const items = some.map(({ userId }) => ({ ...body, userId }))
    for (const [index, outcome] of (await writeBatch(writing, dataset, items, 'skip')).entries()) {
      const { userId, userEmail } = some[index] ?? {}
      if (outcome.kind === 'failed') {
        refused.push({ userId, userEmail, code: outcome.code, message: outcome.detail })
        continue
      }
      const isNew = outcome.kind === 'created' || outcome.kind === 'updated'
      counts[isNew ? 'enrolled' : 'alreadyEnrolled'] += 1
      if (outcome.id !== undefined) ids.push(outcome.id)
    }
  }
  if (settings.quiet.value) await output.text(ids.map((id) => `${id}\n`).join(''))
  else if (hasChosenForm(settings)) {
    const [groupId, courseId] = [shown.id, course.id]
    await output.document({ groupId, courseId, members: members.length, ...counts, refused })
  } else {
    const already = counts.alreadyEnrolled > 0 ? `; ${counts.alreadyEnrolled} already enrolled` : ''
    await output.done(`Enrolled ${pluralise(counts.enrolled, 'member')} ${names}${already}`)
  }
  if (refused.length === 0) return
  const message = `Cannot enrol ${refused.length} of ${pluralise(members.length, 'member')} ${names}`
  throw new CommandError('partial', 'partial', message, {
    why: firstLines(refused.map(({ userEmail, message }) => `${userEmail}: ${message}`)),
  })
}

async function membersOf({ caller, signal }: Writer, groupId: string): Promise<JsonObject[]> {
  const members: JsonObject[] = []
  const asked = { params: { groupId }, query: { limit: 100 }, signal }
  for await (const { data } of caller.pages<Operation>(calls.groups.members, asked)) {
    members.push(...data.filter(isJsonObject))
  }
  return members
}
