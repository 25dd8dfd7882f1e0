import {
  analyticsLearners,
  coursesCreate,
  coursesList,
  coursesUpdate,
  progressSet,
  usersCreate,
} from '../generated/hey-api'
import { client } from '../generated/hey-api/client.gen'
import type { Story } from './story'

/** Runs the story with the functions of @hey-api/openapi-ts. */
export async function runStory(baseUrl: string, key: string): Promise<Story> {
  client.setConfig({ baseUrl, auth: key })
  const created = await coursesCreate({ body: { title: 'Marine Biology', status: 'published' } })
  const user = await usersCreate({ body: { email: 'ada@example.org' } })
  if (!created.data || !user.data) throw new Error('Nothing was created')
  const listed = await coursesList({
    query: { status: ['draft', 'published'], include_total: true, limit: 5 },
  })
  const path = { courseId: created.data.id }
  const headers = { 'If-Match': '"1"' }
  const updated = await coursesUpdate({
    path,
    headers,
    body: { description: 'Life in the sea', language: null },
  })
  const stale = await coursesUpdate({ path, headers, body: { description: 'Old' } })
  const refused = await coursesCreate({ body: { title: '' } })
  const progress = await progressSet({
    path: { learnerId: user.data.id },
    body: { courseId: created.data.id, completionPercentage: 40 },
  })
  const csv = await analyticsLearners({ query: { format: 'csv' }, parseAs: 'text' })
  return {
    version: created.data.version,
    titles: listed.data?.data.map(({ title }) => title) ?? [],
    total: listed.data?.total,
    modified: updated.data?.modifiedAttributes ?? [],
    stale: [stale.response?.status ?? 0, stale.error?.code ?? ''],
    pointers: refused.error?.errors?.map(({ pointer }) => pointer) ?? [],
    progress: progress.data?.status ?? '',
    columns: String(csv.data).split('\r\n')[0] ?? '',
  }
}
