import type { Integration as Shown, ShownSecret } from '../../contract/integration.ts'
import type { Integration, StoredSecret } from './integration.ts'
import { webhookPathOf } from './lms-kind.ts'

/** An integration as it is shown: of its secrets no more than that there are some, and since when. */
export function shownIntegration(integration: Integration, now: string): Shown {
  const { accessToken, webhookSecrets, jwks, gradeItems, ...rest } = integration
  return {
    lmsKind: rest.lmsKind,
    baseUrl: rest.baseUrl,
    secrets: {
      accessToken: accessToken && shownSecret(accessToken),
      webhook: webhookSecrets.filter(({ endsAt }) => endsAt === null || endsAt > now).map(shownSecret),
    },
    rootAccountUuid: rest.rootAccountUuid,
    jwksUrl: rest.jwksUrl,
    jwks: jwks === null ? null : (JSON.parse(jwks) as Shown['jwks']),
    gradeToProgress: rest.gradeToProgress,
    gradeItems: { ...gradeItems },
    defaultGradeMaximum: rest.defaultGradeMaximum,
    webhookPath: webhookPathOf(rest.lmsKind),
    version: rest.version,
    createdAt: rest.createdAt,
    updatedAt: rest.updatedAt,
  }
}

function shownSecret({ setAt, last4, endsAt }: StoredSecret): ShownSecret {
  return { setAt, last4, endsAt }
}
