import { isJsonObject, type JsonObject, jsonText, parseJson } from '../../codec/json-text.ts'
import type { Pseudonymising } from '../pseudonyms/pseudonym-table.ts'
import { coarsened } from '../pseudonyms/pseudonyms.ts'
import { KeptRows } from '../pseudonyms/sorted-people.ts'

/** Properties of a statement that do not identify a person (xAPI 1.0.3, Data 2.2). */
const keptProperties = ['verb', 'object', 'result', 'version'] as const

/** Properties of a statement that people could be recognised by. */
const grouped = { name: null, columns: ['verb', 'object', 'timestamp'] } as const

/**
 * Yields statements whose actors are pseudonyms, sorted by them; those of a learner keep their order. All pages are read before
 * the first is yielded.
 *
 * @param noteGroups gets the notes about small groups, after all pages were read
 */
export async function* pseudonymisedStatements(
  pages: AsyncIterable<{ readonly data: readonly unknown[] }>,
  how: Pseudonymising,
  noteGroups: (notes: readonly string[]) => void,
): AsyncGenerator<{ readonly data: readonly unknown[] }> {
  const rows = new KeptRows(how, grouped)
  try {
    for await (const { data } of pages) {
      for (const item of data) {
        const { actor, statement } = pseudonymised(item, how)
        rows.add(actor, groupOf(statement), jsonText(statement))
      }
    }
    for (const texts of rows.batches()) yield { data: texts.map((text) => parseJson(text)) }
    noteGroups(rows.groupNotes())
  } finally {
    rows.remove()
  }
}

/** Returns what someone may know of a statement: what happened, in which course or item, and when. */
function groupOf(statement: JsonObject): unknown[] {
  return [objectAt(statement['verb'])['id'], objectAt(statement['object'])['id'], statement['timestamp']]
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
