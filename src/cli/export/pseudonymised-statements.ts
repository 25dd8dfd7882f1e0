import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import { BucketSpool } from '../pseudonyms/bucket-spool.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import { coarsened } from '../pseudonyms/pseudonyms.ts'

/** Properties of a statement that do not identify a person (xAPI 1.0.3, Data 2.2). */
const keptProperties = ['verb', 'object', 'result', 'version'] as const

/**
 * Yields statements whose actors are pseudonyms, sorted by them; those of a learner keep their order. All pages are read before
 * the first is yielded.
 */
export async function* pseudonymisedStatements(
  pages: AsyncIterable<{ readonly data: readonly unknown[] }>,
  how: Pseudonymising,
): AsyncGenerator<{ readonly data: readonly unknown[] }> {
  const spool = new BucketSpool()
  try {
    for await (const { data } of pages) {
      for (const item of data) {
        const { actor, statement } = pseudonymised(item, how)
        spool.add(actor, jsonText(statement))
      }
    }
    for (const entries of spool.sorted()) yield { data: entries.map(({ text }) => parseJson(text)) }
  } finally {
    spool.remove()
  }
}

function pseudonymised(item: unknown, { pseudonyms, times }: Pseudonymising) {
  const statement = objectAt(item)
  const account = objectAt(objectAt(statement['actor'])['account'])
  const context = objectAt(statement['context'])
  const learner = String(account['name'] ?? objectAt(statement['actor'])['mbox'] ?? '')
  const actor = pseudonyms.of('user', learner)
  const at = statement['timestamp']
  const timestamp = times === null ? at : `${coarsened(at, times) ?? '1970-01-01'}T00:00:00.000Z`
  const kept = keptProperties.filter((name) => statement[name] !== undefined)
  return {
    actor,
    statement: {
      id: pseudonyms.uuidOf('statement', String(statement['id'])),
      actor: { objectType: 'Agent', account: { homePage: account['homePage'] ?? null, name: actor } },
      ...Object.fromEntries(kept.map((name) => [name, statement[name]])),
      context: {
        registration: pseudonyms.uuidOf('registration', String(context['registration'])),
        ...(context['platform'] !== undefined && { platform: context['platform'] }),
        ...(context['contextActivities'] !== undefined && {
          contextActivities: context['contextActivities'],
        }),
      },
      timestamp,
    },
  }
}

function objectAt(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
