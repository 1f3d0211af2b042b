package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aster-mcp/aster/cmd/aster/internal/config"
)

// reachTimeout bounds each step on the way to a remote server.
const reachTimeout = 5 * time.Second

// reach takes the steps below MCP to a remote server: name, connection, TLS, HTTP. asks
// says that it wants a login. The request holds no header and no login of the user's.
func (o *serverDoctorOptions) reach(ctx context.Context, l *ladder, s *config.Server, address string) (asks, reached bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.fail("address", "correct url in "+s.Place.String(), "it needs http:// or https:// and a host") // its text may be a secret
		return false, false
	}
	at := u
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	switch {
	case err != nil:
		l.fail("proxy", "correct the variable of the proxy, such as HTTPS_PROXY", "its address cannot be read")
		return false, false
	case proxy != nil:
		l.ok("proxy", "%s, by the environment", proxy.Host)
		at = proxy
	}
	if !lookUpHost(ctx, l, s, at.Hostname()) {
		return false, false
	}
	conn := dialHost(ctx, l, at)
	if conn == nil {
		return false, false
	}
	defer conn.Close()
	if proxy == nil && u.Scheme == "https" && !shakeHands(ctx, l, conn, u.Hostname()) {
		return false, false
	}
	return request(ctx, l, s, u)
}

func lookUpHost(ctx context.Context, l *ladder, s *config.Server, host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		var dns *net.DNSError
		why := err.Error()
		if errors.As(err, &dns) {
			why = dns.Err
		}
		l.fail("dns", "check the name in "+s.Place.String()+", and that you are online", "%s: %s", host, why)
		return false
	}
	l.ok("dns", "%s is %s", host, strings.Join(addrs[:min(len(addrs), maxShownProblems)], ", "))
	return true
}

func dialHost(ctx context.Context, l *ladder, u *url.URL) net.Conn {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	begun := time.Now()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		l.fail("connection", "start the server, or correct its port", "nothing listens at %s", u.Host)
	case err != nil && ctx.Err() != nil:
		l.fail("connection", "is there a firewall or a VPN between?", "%s does not answer within %s", u.Host, reachTimeout)
	case err != nil:
		l.fail("connection", "check your network", "%v", err)
	default:
		l.ok("connection", "made in %s", round(time.Since(begun)))
		return conn
	}
	return nil
}

func shakeHands(ctx context.Context, l *ladder, conn net.Conn, host string) bool {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	c := tls.Client(conn, &tls.Config{ServerName: host})
	err := c.HandshakeContext(ctx)
	if err == nil {
		st := c.ConnectionState()
		l.ok("tls", "%s, certificate good until %s", tls.VersionName(st.Version), st.PeerCertificates[0].NotAfter.Format(time.DateOnly))
		return true
	}
	next := "does it speak https? Try http:// if the server is on this machine"
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		next = "add the authority of its certificate to the system's, or to SSL_CERT_FILE"
	case errors.As(err, &name):
		next = "use the name that its certificate is for"
	case errors.As(err, &invalid):
		next = "its certificate has to be renewed, or this machine's clock is wrong"
	}
	l.fail("tls", next, "%v", err)
	return false
}

// request makes one request as a stranger would. Redirects are not followed.
func request(ctx context.Context, l *ladder, s *config.Server, u *url.URL) (asks, reached bool) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		l.fail("http", "correct url in "+s.Place.String(), "it is no address")
		return false, false
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // without the address
		}
		l.fail("http", "does an HTTP server listen there?", "no answer: %v", err)
		return false, false
	}
	res.Body.Close()
	status := res.Status
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized:
		l.ok("http", "%s: it asks for a login", status)
		return true, true
	case code >= 500:
		l.fail("http", "the server is in trouble: try later, or ask whoever runs it", "%s", status)
		return false, false
	case code == http.StatusNotFound || code == http.StatusGone:
		l.warn("http", "if the next step fails, correct the path in "+s.Place.String(), "%s to a plain request", status)
	case code >= 300 && code < 400:
		to := "elsewhere"
		if loc, err := res.Location(); err == nil {
			to = loc.Scheme + "://" + loc.Host
		}
		l.warn("http", "if the next step fails, write the new address into "+s.Place.String(), "%s, to %s; your headers do not follow to another origin", status, to)
	case kind == "text/html" && code < 300:
		l.warn("http", "is it the address of an MCP endpoint? It often ends in /mcp", "%s with a web page", status)
	default:
		l.ok("http", "%s, which is usual for a plain request", status)
	}
	return false, true
}

// headerNames are the names of a server's headers.
func headerNames(s *config.Server) []string { return slices.Sorted(maps.Keys(s.Headers)) }
