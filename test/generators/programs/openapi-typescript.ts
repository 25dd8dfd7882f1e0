import createClient from 'openapi-fetch'
import type { paths } from '../generated/openapi-typescript'
import type { Story } from './story'

/** Runs the story with the types of openapi-typescript and with openapi-fetch. */
export async function runStory(baseUrl: string, key: string): Promise<Story> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })
  const created = await client.POST('/v1/courses', { body: { title: 'Marine Biology', status: 'published' } })
  const user = await client.POST('/v1/users', { body: { email: 'ada@example.org' } })
  if (!created.data || !user.data) throw new Error('Nothing was created')
  const listed = await client.GET('/v1/courses', {
    params: { query: { status: ['draft', 'published'], include_total: true, limit: 5 } },
  })
  const path = { courseId: created.data.id }
  const updated = await client.PUT('/v1/courses/{courseId}', {
    params: { path, header: { 'If-Match': '"1"' } },
    body: { description: 'Life in the sea', language: null },
  })
  const stale = await client.PUT('/v1/courses/{courseId}', {
    params: { path, header: { 'If-Match': '"1"' } },
    body: { description: 'Old' },
  })
  const refused = await client.POST('/v1/courses', { body: { title: '' } })
  const progress = await client.PUT('/v1/learners/{learnerId}/progress', {
    params: { path: { learnerId: user.data.id } },
    body: { courseId: created.data.id, completionPercentage: 40 },
  })
  const csv = await client.GET('/v1/analytics/learners', {
    params: { query: { format: 'csv' } },
    parseAs: 'text',
  })
  return {
    version: created.data.version,
    titles: listed.data?.data.map(({ title }) => title) ?? [],
    total: listed.data?.total,
    modified: updated.data?.modifiedAttributes ?? [],
    stale: [stale.response.status, stale.error?.code ?? ''],
    pointers: refused.error?.errors?.map(({ pointer }) => pointer) ?? [],
    progress: progress.data?.status ?? '',
    columns: String(csv.data).split('\r\n')[0] ?? '',
  }
}
