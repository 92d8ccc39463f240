import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { When } from '../../parts/text.tsx';
import { type Member, type Role, useRolesFor } from './rights.ts';

const say = sayer('members');

/** What the reader may do with a member. The service refuses the rest, so it is not offered. */
export function Change({ member }: { readonly member: Member }) {
  const roles = useRolesFor(member);
  const [role, choose] = useState<Role>(member.role);
  if (roles.length === 0) return null;
  const { memberId, displayName: name, status, identity, protectedUntil } = member;
  if (protectedUntil !== null && Date.parse(protectedUntil) > Date.now()) {
    return (
      <span className="aside">
        {say('protected')} <When at={protectedUntil} />
      </span>
    );
  }
  const params = { path: { id: memberId } };
  const patch = (body: Schemas['MemberChange']) => api.PATCH('/v1/members/{id}', { params, body });
  const isActive = status === 'active';
  return (
    <span className="actions">
      {identity === 'passkey' && (
        <Act
          text={say('changeRole')}
          label={say('changeRoleOf', { name })}
          title={say('changeRoleOf', { name })}
          isHarmless
          run={() => patch({ role })}
        >
          <label className="field">
            <span>{say('role')}</span>
            <select value={role} onChange={({ target }) => choose(target.value as Role)}>
              {roles.map((each) => (
                <option key={each} value={each}>
                  {say(each)}
                </option>
              ))}
            </select>
          </label>
          <p>{say('sessionsEnd')}</p>
        </Act>
      )}
      <Act
        text={isActive ? say('suspend') : say('resume')}
        label={say(isActive ? 'suspendOne' : 'resumeOne', { name })}
        title={say(isActive ? 'suspendOne' : 'resumeOne', { name })}
        isHarmless={!isActive}
        run={() => patch({ status: isActive ? 'suspended' : 'active' })}
      >
        <p>{isActive ? say('suspendText') : say('resumeText')}</p>
      </Act>
      <Act
        text={say('remove')}
        label={say('removeOne', { name })}
        title={say('removeOne', { name })}
        run={() => api.DELETE('/v1/members/{id}', { params })}
      >
        <p>{identity === 'passkey' ? say('removeText') : say('removeOfSso')}</p>
      </Act>
    </span>
  );
}
