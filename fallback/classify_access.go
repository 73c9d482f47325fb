package fallback

// Access: credentials, sessions and models that this account cannot have.

var (
	// sessionGone: the vendor no longer knows the conversation (5.D 2).
	sessionGone = say(
		"session|conversation not found", "session|conversation id not found",
		"session|conversation was|is not found", "session|conversation id * not found",
		"session|conversation does not exist", "session|conversation doesnt exist",
		"session|conversation expired", "session|conversation has|is expired",
		"session|conversation is invalid", "session|conversation invalid", "invalid session|conversation",
		"no such session|conversation", "no session|conversation found",
		"no rollout found for conversation", // Codex
		"previous response .. not found",    // OpenAI Responses: previous_response_not_found
	)

	// modelMissing: the model is unknown, gone, or not for this account (5.D 3,
	// V12, IL-107).
	modelMissing = some(
		say(
			"no endpoints found",
			"router not found",
			"unknown model",
			"model not found", "modelnotfound~",
			"not_found_error",
			"not supported model",
			"models .. is not found",
			"model .. does not exist", "model .. doesnt exist", "model not exist",
			"selected model .. not found", "model .. not found",
			"is not a valid model id|identifier|name",
			"invalid model !reference|output|response|input|parameters|settings|config",
			"model .. deactivated",
		),
		all(number(404), say("not found")),
		all(say("model|models"), say("deprecated"), say("upgrade|transition~|migrate .. to")),
		all(say("stealth model"), say("find it here")),
		say( // V12: the whole sentence, or one that goes on with "when using"
			"model .. is not supported $", "model .. isnt supported $", "model .. not supported when using",
			"model .. is not supported when using", "model_not_supported",
			"model .. is not supported by|on|under|with your|this|the|any account|plan|subscription|endpoint|api|region|provider",
		),
		say( // vendors' error documents
			"available for this|your subscription",                // IL-107: not yet available for …
			"model .. decommissioned|retired|discontinued|sunset", // Groq, Azure
			"model .. no longer supported|available",              // Groq, Anthropic
			"deploymentnotfound", "deployment .. does not exist",  // Azure OpenAI
			"invalidendpointormodel", "unsupportedmodel", // Volcengine
			"model identifier is invalid", "on demand throughput isnt supported", "on demand throughput is not supported", // Bedrock
			"no allowed providers are available for the selected model", // OpenRouter
			"no such model",                                               // Workers AI 5007
			"model .. is not accessible via", "unsupported_api_for_model", // GitHub Copilot
			"no models loaded",              // LM Studio
			"does not have access to model", // OpenAI projects
			"模型不存在", "模型未找到", "模型已下线",
		),
		from(zaiNames, code("1211")),
	)

	// certificate is a fault of TLS: no key is to blame and no vendor busy, so
	// it has no reason (V4).
	certificate = say(
		"x509", "certificate .. expired", "certificate .. not yet valid", "certificate signed by unknown authority",
		"certificate verify failed", "verify .. certificate", "certificate .. verification", "self signed certificate",
		"certificate is not trusted|valid", "untrusted certificate", "invalid certificate", "certificate .. invalid|revoked|mismatch",
		"unable to get local issuer certificate", "unable to get issuer certificate", "certificate chain",
		"tls|ssl handshake failed|failure|error", "handshake failure", "tls: bad certificate", "ssl certificate problem|error",
		"certificate .. altname", "cert has expired",
	)

	// lostLogin: a renewal that failed for a cause that trying again does not
	// mend (5.D 14).
	lostLogin = some(
		say("invalid_grant", "refresh_token_reused", "refresh token reused", "invalid refresh token", "refresh_token_expired", "refresh_token_invalidated"),
		all(
			say("refresh token", "could not be refreshed", "failed to refresh", "unable to refresh", "token refresh failed", "refresh failed", "cannot refresh", "couldnt be refreshed"),
			say("invalid grant", "reused", "already been used", "already used", "sign|log|login in again", "sign|log in to another account",
				"signed|logged in to another account", "invalid refresh token", "refresh token .. invalid|expired|revoked", "revoked"),
		),
	)

	// lockedOut is the permanent-auth family (5.D 15).
	lockedOut = some(
		say(
			"api key revoked|deactivated|deleted|disabled|suspended", "apikey revoked|deactivated|deleted|disabled",
			"deactivated workspace",
			"key has been disabled", "key has been revoked",
			"account has been deactivated",
			"not allowed for this organization|organisation",
		),
		say( // vendors' error documents
			"api key has been deleted|deactivated|suspended", "api key is disabled|revoked|deactivated", "key is disabled|revoked|deactivated",
			"account .. has been deactivated|disabled|suspended|terminated|banned", "account deactivated", "account is deactivated",
			"organization has been disabled|deactivated|suspended", "workspace has been deactivated|disabled|archived",
			"consumer .. has been suspended", "consumer_suspended", "key was reported as leaked", // Google
			"access terminated", // Kimi Code
		),
	)

	// expiredLogin: "expired" counts only with a credential in its sentence (V4).
	expiredLogin = but(
		say(
			"token|tokens|jwt|credential|credentials|login|oauth|apikey|password|secret|bearer|authorization .. expired|expires",
			"expired token|tokens|jwt|credential|credentials|login|oauth|apikey|password|secret|bearer|authorization|key|keys|api|access",
			"api|access|secret|auth|virtual|license|provider|subscription|service|this|your|the|provided|openai|anthropic key|keys .. expired",
			"^ key|keys .. expired",
			"expiredtoken~",
			"已过期的密钥", "密钥已过期", "token 已过期", "令牌已过期", "key 已过期",
		),
		say("cache|cached|lock|page|cursor|pagination|continuation token|key"))

	// refusedCall is 401 or 403 as a word (5.D 16) in a sentence about a call; in
	// other prose it is a number like any other [D13].
	refusedCall = all(
		say("failed|failure|failing|request|response|provider|upstream|server|api|gateway|endpoint|denied|rejected|refused|call"),
		bareNumber(401, 403),
	)

	// authWords is the auth family (5.D 16).
	authWords = some(
		say(
			"invalid api key", "invalid x api key", "invalid apikey", "incorrect api key",
			"could not authenticate|validate .. api key", "could not authenticate|validate .. credentials|apikey",
			"permission_error",
			"invalid token",
			"authentication~", "re authenticate", "reauthenticate",
			"oauth token refresh failed",
			"unauthorized~", "unauthorised", "forbidden", "access denied", "accessdenied~",
			"insufficient permission|permissions",
			"missing scope|scopes",
			"no credentials found", "no api key found", "no auth credentials found",
			"failed to extract|parse|validate|decode .. token",
			"ce 011",
			"无权访问", "认证失败", "鉴权失败", "密钥无效", "apikey 无效",
		),
		number(401, 403), refusedCall,
		codeSaid("1113"), // Z.ai
		say( // vendors' error documents
			"api key not valid", "api key is invalid|missing|required|incorrect|expired|not", "api key .. is invalid", "apikey is invalid|missing",
			"no api key", "api key was not provided", "api key not found", "missing api key", "invalid key",
			"permission denied", "permission_denied", "unauthenticated", "not authorized", "not authorised", "notauthorized~",
			"invalid credentials|credential", "bad credentials", "missing credentials", "invalid access token", "invalid bearer token", "invalid auth~",
			"token is invalid|revoked|missing", "token has been revoked|invalidated", "security token .. invalid|expired",
			"unrecognizedclientexception", "invalidclienttokenid", "invalidsignatureexception", "incompletesignature", "missingauthenticationtoken",
			"please sign|log in again", "not logged in", "login required", "please log in", "please run login", "please login",
			"account .. locked",
			"api_key_invalid", "invalidapikey",
			"禁止访问", "没有权限", "无权限", "权限不足", "未授权", "密钥错误", "密钥不正确", "身份验证失败", "令牌无效", "token 无效", "token 非法",
			"apikey 错误", "apikey 不正确", "账户已被锁定", "账号已被锁定", "暂无 api 权限", "无效的 api", "无效的密钥", "无效的令牌",
		),
		expiredLogin,
		from(zaiNames, code("1000 1001 1002 1003 1004 1110 1111 1112 1121 1220")),
		from("minimax", code("1004 2049")),
	)
)
